import { buildChatBody, buildRequest } from '../build-request.ts'
import { createParkway } from '../contestants/parkway.ts'
import { formatCount, formatMicroseconds } from '../format-figure.ts'
import type { ExchangeResult } from '../load/load-job.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, sum } from '../statistics.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

const IDS = ['parkway-poor', 'parkway-poor-two']
const CLIENTS = 200
const ROUNDS_MAX = 3
const DURATION_MS = 5_000
/** Enough for a few hundred answers of the mock, so that there are both answers and refusals. */
const CREDIT_USD = 0.02
/** The default limits of an account with little credit are lower than the rates measured here. */
const LIMITS = JSON.stringify({
  tiers: [
    {
      name: 'free',
      balance_usd: 0,
      requests_per_minute: null,
      tokens_per_minute: null,
      concurrent_requests: null,
      spend_usd_per_minute: null,
    },
  ],
})
const REFUSAL_STATUS = 402
const REFUSAL_MS_MAX = 1_000
/** Each stream holds credit for half a second, while other requests wait for it. */
const STREAM = { chunks: 25, chunksPerSecond: 50 }

/** Many clients use an account that is nearly empty: how soon are requests without credit refused? */
export const credit: Scenario = {
  id: 'credit',
  contestants: IDS.map((id, index) =>
    createParkway({ id, environment: { PARKWAY_PROCESSES: String(index + 1), PARKWAY_LIMITS: LIMITS } }),
  ),
  run: async (session) => {
    const samples = new Map<string, CreditSample[]>()
    for (const gateway of session.contestants.filter(({ id }) => IDS.includes(id)))
      samples.set(gateway.id, await measureGateway(session, gateway))
    return {
      rows: tabulate(samples),
      verdicts: [...samples].flatMap(([id, taken]) => judge(id, taken)),
      samples: Object.fromEntries(samples),
    }
  },
}

interface CreditSample {
  readonly whole: ExchangeResult
  readonly streamed: ExchangeResult
}

async function measureGateway(session: BenchSession, gateway: RunningContestant): Promise<CreditSample[]> {
  const taken: CreditSample[] = []
  // The first round counts too: a gateway that has just started must refuse as fast.
  for (let round = 0; round < Math.min(session.options.rounds, ROUNDS_MAX); round += 1) {
    const whole = await measure(session, gateway, buildChatBody())
    const streamed = await measure(session, gateway, buildChatBody(STREAM))
    taken.push({ whole, streamed })
    for (const { firstFailure } of [whole, streamed])
      if (firstFailure !== null) session.note(`credit: ${gateway.id} failed with ${firstFailure}`)
  }
  return taken
}

async function measure(
  { load }: BenchSession,
  gateway: RunningContestant,
  body: object,
): Promise<ExchangeResult> {
  const key = await createPoorKey(gateway)
  const headers = { authorization: `Bearer ${key}` }
  return load.runExchanges({
    port: gateway.port,
    request: buildRequest({ path: '/v1/chat/completions', headers, body }),
    concurrency: CLIENTS,
    refusalStatus: REFUSAL_STATUS,
    warmupMs: 0,
    durationMs: DURATION_MS,
  })
}

/** Creates a key of its own account. */
async function createPoorKey(gateway: RunningContestant): Promise<string> {
  const account = await post(gateway, '/v1/admin/accounts', { name: 'Poor', credit_usd: CREDIT_USD })
  const path = `/v1/admin/accounts/${String(account['id'])}`
  return String((await post(gateway, `${path}/api-keys`, { scopes: ['inference'] }))['key'])
}

async function post(
  { port, requestHeaders }: RunningContestant,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { ...requestHeaders, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`POST ${path} answers ${answer.status} ${text}`)
  return JSON.parse(text)
}

function tabulate(samples: ReadonlyMap<string, readonly CreditSample[]>): MetricRow[] {
  const kinds = ['whole', 'streamed'] as const
  return kinds.flatMap((kind) => {
    const row = (label: string, figure: (results: readonly ExchangeResult[]) => string): MetricRow => ({
      label: `nearly empty, ${kind}: ${label}`,
      cells: Object.fromEntries(
        [...samples].map(([id, taken]) => [id, figure(taken.map((sample) => sample[kind]))]),
      ),
    })
    return [
      row('answers', (results) => formatCount(sum(results.map(({ answers }) => answers)))),
      row('refusals', (results) => formatCount(sum(results.map(({ refusals }) => refusals)))),
      row('refused after, median', (results) =>
        formatMicroseconds(median(results.map(({ refusalP50Us }) => refusalP50Us))),
      ),
      row('refused after, at most', (results) =>
        formatMicroseconds(Math.max(...results.map(({ refusalMaxUs }) => refusalMaxUs))),
      ),
      row('begun and then refused', (results) =>
        formatCount(sum(results.map(({ brokenAnswers }) => brokenAnswers))),
      ),
      row('failed otherwise', (results) => formatCount(sum(results.map(({ failures }) => failures)))),
    ]
  })
}

function judge(id: string, taken: readonly CreditSample[]): Verdict[] {
  const results = taken.flatMap(({ whole, streamed }) => [whole, streamed])
  const latestUs = Math.max(...results.map(({ refusalMaxUs }) => refusalMaxUs))
  const broken = sum(results.map(({ brokenAnswers }) => brokenAnswers))
  return [
    {
      target: `${id}: ${CLIENTS} clients of a nearly empty account are refused within ${REFUSAL_MS_MAX} ms, before a stream begins`,
      measured: `${formatMicroseconds(latestUs)} at most, ${formatCount(broken)} after it began`,
      isMet: latestUs <= REFUSAL_MS_MAX * 1_000 && broken === 0,
    },
  ]
}
