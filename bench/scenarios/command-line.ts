import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parkway } from '../contestants/parkway.ts'
import { formatMicroseconds } from '../format-figure.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median } from '../statistics.ts'
import type { BenchSession, Scenario } from './scenario.ts'

const ROOT = join(import.meta.dirname, '../..')
const COMPILED = join(ROOT, 'dist/cli/main.js')
const START_MS_MAX = 150

/** How long commands of the client take, compared with Node alone. */
export const commandLine: Scenario = {
  id: 'command-line',
  contestants: [parkway],
  run: async (session) => {
    const [gateway] = session.contestants
    if (gateway === undefined) return { rows: [], verdicts: [], samples: {} }
    const home = mkdtempSync(join(tmpdir(), 'parkway-bench-home-'))
    try {
      return reportStarts(await measureStarts(session, { gateway, home }))
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  },
}

interface Start {
  readonly name: string
  readonly words: readonly string[]
  /** Whether it is a start of the installed package, which has a target. */
  readonly isInstalled: boolean
}

const CLIENT_WORDS = {
  'the help of a command': ['models', '--help'],
  'a command that asks the gateway': ['whoami'],
}

function listStarts(): Start[] {
  const programs = [
    { form: 'in a checkout', program: join(ROOT, 'cli/main.ts'), isInstalled: false },
    ...(existsSync(COMPILED) ? [{ form: 'as a package', program: COMPILED, isInstalled: true }] : []),
  ]
  const clients = programs.flatMap(({ form, program, isInstalled }) =>
    Object.entries(CLIENT_WORDS).map(([name, words]) => ({
      name: `${name}, ${form}`,
      words: [program, ...words],
      isInstalled,
    })),
  )
  return [{ name: 'Node alone', words: ['-e', '0'], isInstalled: false }, ...clients]
}

type StartSamples = ReadonlyMap<Start, readonly number[]>

async function measureStarts(
  { options, note }: BenchSession,
  { gateway, home }: { gateway: RunningContestant; home: string },
): Promise<StartSamples> {
  const starts = listStarts()
  if (!starts.some(({ isInstalled }) => isInstalled))
    note('the package is not compiled; "npm pack" compiles it')
  const samples = new Map(starts.map((start) => [start, [] as number[]]))
  const environment = {
    HOME: home,
    PARKWAY_BASE_URL: `http://127.0.0.1:${gateway.port}`,
    PARKWAY_API_KEY: gateway.requestHeaders['authorization']?.replace('Bearer ', '') ?? '',
  }
  // The first start of each fills the compile cache of the user.
  for (let round = -1; round < (options.isQuick ? 5 : 25); round += 1) {
    for (const start of starts) {
      const elapsedMs = await measureStartMs(start, environment)
      if (round >= 0) samples.get(start)?.push(elapsedMs)
    }
  }
  return samples
}

function measureStartMs({ name, words }: Start, env: NodeJS.ProcessEnv): Promise<number> {
  const startedAtMs = performance.now()
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'inherit'] })
    child.on('error', fail)
    child.on('close', (code) => {
      if (code === 0) done(performance.now() - startedAtMs)
      else fail(new Error(`${name} ended with ${code}`))
    })
  })
}

function reportStarts(samples: StartSamples) {
  const figures = [...samples].map(([start, elapsedMs]) => ({ start, medianMs: median(elapsedMs) }))
  return {
    rows: figures.map(({ start, medianMs }) => ({
      label: `start to end: ${start.name}`,
      cells: { parkway: formatMicroseconds(medianMs * 1000) },
    })),
    verdicts: figures
      .filter(({ start }) => start.isInstalled)
      .map(({ start, medianMs }) => ({
        target: `${start.name}: under ${START_MS_MAX} ms`,
        measured: formatMicroseconds(medianMs * 1000),
        isMet: medianMs < START_MS_MAX,
      })),
    samples: Object.fromEntries([...samples].map(([{ name }, elapsedMs]) => [name, elapsedMs])),
  }
}
