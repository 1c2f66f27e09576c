import { WORST_BODIES } from '../../tests/stalls/worst-bodies.ts'
import { buildChatBody, buildRequest } from '../build-request.ts'
import { createParkway } from '../contestants/parkway.ts'
import { formatCount, formatMicroseconds, formatRatio } from '../format-figure.ts'
import type { ExchangeResult } from '../load/load-job.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median } from '../statistics.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

const ID = 'parkway-fair'
const ROUNDS_MAX = 3
const DURATION_MS = 5_000
const WARMUP_MS = 1_000
/** Worst requests that run at the same time, each followed by the next. */
const FLOOD_AT_ONCE = 8
const BODY_BYTES = 900 * 1024
const RATIO_MAX = 2

/** One account sends the worst requests that are known, for free: how much longer does another one wait? */
export const fairness: Scenario = {
  id: 'fairness',
  contestants: [createParkway({ id: ID })],
  run: async (session) => {
    const gateway = session.contestants.find(({ id }) => id === ID)
    const samples = gateway === undefined ? [] : await measureGateway(session, gateway)
    return { rows: tabulate(samples), verdicts: judge(samples), samples }
  },
}

interface FairnessSample {
  readonly quiet: ExchangeResult
  readonly flooded: ExchangeResult
  /** Worst requests that were answered meanwhile. */
  readonly floodAnswers: number
}

async function measureGateway(session: BenchSession, gateway: RunningContestant): Promise<FairnessSample[]> {
  const key = await createKey(gateway)
  const samples: FairnessSample[] = []
  for (let round = 0; round < Math.min(session.options.rounds, ROUNDS_MAX); round += 1) {
    const quiet = await measureChat(session, gateway)
    const flood = startFlood(gateway, key)
    const flooded = await measureChat(session, gateway)
    const floodAnswers = await flood.stop()
    samples.push({ quiet, flooded, floodAnswers })
  }
  return samples
}

function measureChat({ load }: BenchSession, gateway: RunningContestant): Promise<ExchangeResult> {
  const headers = gateway.requestHeaders
  return load.runExchanges({
    port: gateway.port,
    request: buildRequest({ path: '/v1/chat/completions', headers, body: buildChatBody() }),
    concurrency: 1,
    warmupMs: WARMUP_MS,
    durationMs: DURATION_MS,
  })
}

/** All of them are refused or free, so that the ledger has only the other account's charges. */
function listWorst(): (readonly [method: string, path: string, body?: string])[] {
  const bodies = Object.values(WORST_BODIES).map((make) => make(BODY_BYTES))
  return [
    ...bodies.flatMap((value) => [
      ['POST', '/v1/chat/completions', `{"model":"none","messages":${value}}`] as const,
      ['POST', '/v1/responses', `{"model":"none","input":${value}}`] as const,
      ['POST', '/v1/embeddings', `{"model":"none","input":${value}}`] as const,
      ['POST', '/v1/tenants/me/api-keys', `{"name":1,"metadata":${value}}`] as const,
    ]),
    ['GET', '/v1/requests'],
    ['GET', '/v1/usage/timeseries'],
    ['GET', '/v1/tasks'],
  ]
}

function startFlood({ port }: RunningContestant, key: string): { stop: () => Promise<number> } {
  const worst = listWorst()
  const state = { next: 0, answers: 0, isOver: false }
  const loops = Array.from({ length: FLOOD_AT_ONCE }, async () => {
    while (!state.isOver) {
      const [method, path, body] = worst[state.next++ % worst.length] ?? ['GET', '/v1/tasks']
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      })
      await answer.arrayBuffer()
      state.answers += 1
    }
  })
  return {
    stop: async () => {
      state.isOver = true
      await Promise.all(loops)
      return state.answers
    },
  }
}

async function createKey({ port, requestHeaders }: RunningContestant): Promise<string> {
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { ...requestHeaders, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`POST ${path} answers ${answer.status} ${await answer.text()}`)
    return JSON.parse(await answer.text())
  }
  const account = await post('/v1/admin/accounts', { name: 'Flooding', credit_usd: 1 })
  const scopes = { scopes: ['inference', 'manage'] }
  return String((await post(`/v1/admin/accounts/${String(account['id'])}/api-keys`, scopes))['key'])
}

const p50Of = ({ latencyP50Us }: ExchangeResult): number => latencyP50Us
const p99Of = ({ latencyP99Us }: ExchangeResult): number => latencyP99Us

function tabulate(samples: readonly FairnessSample[]): MetricRow[] {
  const row = (label: string, cell: string): MetricRow => ({ label, cells: { [ID]: cell } })
  const latency = (figure: (result: ExchangeResult) => number, kind: 'quiet' | 'flooded'): string =>
    formatMicroseconds(median(samples.map((sample) => figure(sample[kind]))))
  return [
    row('chat of another account, quiet: p50', latency(p50Of, 'quiet')),
    row('… p99', latency(p99Of, 'quiet')),
    row('chat of another account, flooded: p50', latency(p50Of, 'flooded')),
    row('… p99', latency(p99Of, 'flooded')),
    row(
      'worst requests answered a second',
      formatCount(
        median(samples.map(({ floodAnswers }) => (floodAnswers * 1000) / (DURATION_MS + WARMUP_MS))),
      ),
    ),
  ]
}

function judge(samples: readonly FairnessSample[]): Verdict[] {
  const ratio = median(samples.map(({ quiet, flooded }) => p99Of(flooded) / p99Of(quiet)))
  const failures = samples.reduce((sum, { flooded }) => sum + flooded.failures, 0)
  return [
    {
      target: `${ID}: p99 of an account is within ${RATIO_MAX} times its quiet one while another sends the worst requests`,
      measured: `${formatRatio(ratio)} times, ${formatCount(failures)} failed`,
      isMet: ratio <= RATIO_MAX && failures === 0,
    },
  ]
}
