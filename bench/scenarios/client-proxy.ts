import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildChatBody } from '../build-request.ts'
import { parkway } from '../contestants/parkway.ts'
import { formatMicroseconds } from '../format-figure.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median } from '../statistics.ts'
import type { Scenario } from './scenario.ts'

const PROGRAM = join(import.meta.dirname, '../../cli/main.ts')
const CHUNKS = 64
/** They open connections and compile code. */
const WARM_UP_ROUNDS = 20
const FORMS = {
  'complete answer': { body: buildChatBody(), isStream: false },
  'first event of a stream': {
    body: buildChatBody({ chunks: CHUNKS, chunksPerSecond: 0 }),
    isStream: true,
  },
}

/** What `parkway proxy` adds to a request, compared with a direct connection to the gateway. */
export const clientProxy: Scenario = {
  id: 'client-proxy',
  contestants: [parkway],
  run: async ({ contestants: [gateway], options }) => {
    if (gateway === undefined) return { rows: [], verdicts: [], samples: {} }
    const home = mkdtempSync(join(tmpdir(), 'parkway-bench-home-'))
    const proxy = await startProxy(gateway, home)
    try {
      const rounds = options.isQuick ? 50 : 1_000
      const samples = await measureForms(gateway, proxy.url, rounds)
      const requests = Object.keys(FORMS).length * (rounds + WARM_UP_ROUNDS) * 2
      return { ...report(samples), usageRowsBefore: new Map([[gateway.id, requests]]) }
    } finally {
      proxy.stop()
      rmSync(home, { recursive: true, force: true })
    }
  },
}

async function startProxy({ port, requestHeaders }: RunningContestant, home: string) {
  const env = {
    HOME: home,
    PARKWAY_BASE_URL: `http://127.0.0.1:${port}`,
    PARKWAY_API_KEY: requestHeaders['authorization']?.replace('Bearer ', '') ?? '',
  }
  const child = spawn(process.execPath, [PROGRAM, 'proxy', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  for await (const part of child.stdout) {
    printed += String(part)
    if (printed.endsWith('\n')) break
  }
  return { url: printed.trim(), stop: () => child.kill('SIGKILL') }
}

type FormSamples = Record<string, { readonly direct: number[]; readonly proxied: number[] }>

async function measureForms(gateway: RunningContestant, proxyUrl: string, rounds: number) {
  const samples: FormSamples = {}
  for (const [name, { body, isStream }] of Object.entries(FORMS)) {
    const taken = { direct: [] as number[], proxied: [] as number[] }
    samples[name] = taken
    for (let round = -WARM_UP_ROUNDS; round < rounds; round += 1) {
      const direct = await measureMs(`http://127.0.0.1:${gateway.port}`, { gateway, body, isStream })
      const proxied = await measureMs(proxyUrl, { gateway, body, isStream })
      if (round < 0) continue
      taken.direct.push(direct)
      taken.proxied.push(proxied)
    }
  }
  return samples
}

async function measureMs(
  url: string,
  { gateway, body, isStream }: { gateway: RunningContestant; body: object; isStream: boolean },
): Promise<number> {
  const startedAtMs = performance.now()
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...gateway.requestHeaders, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok || answer.body === null) throw new Error(`${url} answered ${answer.status}`)
  let elapsedMs = 0
  for await (const _ of answer.body) if (elapsedMs === 0) elapsedMs = performance.now() - startedAtMs
  return isStream ? elapsedMs : performance.now() - startedAtMs
}

function report(samples: FormSamples) {
  const rows = Object.entries(samples).flatMap(([name, { direct, proxied }]) => {
    const added = proxied.map((elapsedMs, index) => elapsedMs - (direct[index] ?? Number.NaN))
    return [
      { label: `${name}, direct`, cells: { parkway: formatMicroseconds(median(direct) * 1000) } },
      { label: `${name}, added by the proxy`, cells: { parkway: formatMicroseconds(median(added) * 1000) } },
    ]
  })
  return { rows, verdicts: [], samples }
}
