import { afterEach, expect, test } from 'vitest'
import { call } from '../app/call.ts'
import { chatOf, startFleet, type Fleet, type Gateway } from '../ledger/start-fleet.ts'
import { completion, startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'

const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const part of opened.splice(0).toReversed()) await part.close()
})

async function start(limits: object): Promise<{ fleet: Fleet; upstream: OpenAiServer }> {
  // Requests that contain "hang" are never answered.
  const upstream = await startOpenAiServer(({ text }) =>
    text.includes('hang') ? new Promise(() => {}) : completion(),
  )
  opened.push(upstream)
  const fleet = await startFleet({
    upstream,
    environment: { PARKWAY_LEASE_MS: '3000', PARKWAY_LIMITS: JSON.stringify(limits) },
  })
  opened.push(fleet)
  return { fleet, upstream }
}

const send = ({ url }: Gateway, key: string, content: string) =>
  call('POST', `${url}/v1/chat/completions`, { key, body: chatOf(content) })

/** Retries 503: a process without CPU time may report its database as unavailable for a moment. */
async function codeOf(ask: () => Promise<{ status: number; body: { error?: { code: string } } }>) {
  for (;;) {
    const { status, body } = await ask()
    if (body.error?.code !== 'service_unavailable') return body.error?.code ?? status
  }
}

const UNLIMITED = { requests_per_minute: null, tokens_per_minute: null, spend_usd_per_minute: null }

test(
  'the running requests of a killed process stop counting, and its slots serve others',
  { timeout: 90_000 },
  async () => {
    const { fleet, upstream } = await start({
      tiers: [{ name: 'all', balance_usd: 0, ...UNLIMITED, concurrent_requests: 2 }],
      local_models: { slots: { openai: 2 }, wait_ms_max: 20_000 },
    })
    const [doomed, survivor] = await Promise.all([fleet.start(), fleet.start()])
    const { key } = await fleet.createSpender({ creditUsd: 5 })
    const other = await fleet.createSpender({ creditUsd: 5 })
    const lost = [send(doomed, key, 'hang'), send(doomed, key, 'hang')].map((sent) => sent.catch(() => null))
    await upstream.requestNumber(1)
    expect(await codeOf(() => send(survivor, key, 'Hi'))).toBe('concurrency_limit_reached')

    const waiting = codeOf(() => send(survivor, other.key, 'Hi'))
    doomed.program.kill('SIGKILL')
    await Promise.all(lost)
    expect(await waiting).toBe(200)
    await expect.poll(() => codeOf(() => send(survivor, key, 'Hi'))).toBe(200)
    const defects = fleet.findDefects()
    expect(defects.filter((defect) => !defect.startsWith('the database cannot be reached'))).toEqual([])
  },
)
