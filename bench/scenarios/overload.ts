import { buildChatBody, buildRequest } from '../build-request.ts'
import { createParkway } from '../contestants/parkway.ts'
import { formatCount, formatRatio } from '../format-figure.ts'
import type { OpenLoopFigures } from '../load/load-job.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { measureOverload, type OverloadSample } from './measure-overload.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

const ID = 'parkway-overload'
/** The gateway of another checkout, with `--before`. */
const IDS: ReadonlySet<string> = new Set([ID, 'before'])
const GOODPUT_SHARE_MIN = 0.8
const FAIR_SHARE_MIN = 0.4
const REFUSAL_MS_MAX = 1_000

/** Many times the load that the gateway can take: what is still answered, how soon are others refused, and who is served? */
export const overload: Scenario = {
  id: 'overload',
  contestants: [createParkway({ id: ID })],
  run: async (session) => {
    const samples = new Map<string, OverloadSample>()
    for (const gateway of session.contestants.filter(({ id }) => IDS.has(id)))
      samples.set(gateway.id, await measureGateway(session, gateway))
    return {
      rows: tabulate(samples),
      verdicts: [...samples].flatMap(([id, sample]) => (id === ID ? judge(id, sample) : [])),
      samples: Object.fromEntries(samples),
    }
  },
}

async function measureGateway(session: BenchSession, gateway: RunningContestant): Promise<OverloadSample> {
  const [first, second, third] = [
    await createKey(gateway),
    await createKey(gateway),
    await createKey(gateway),
  ]
  const chat = (key: string, body: object): string =>
    buildRequest({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${key}` },
      body,
    })
  const { authorization = '' } = gateway.requestHeaders
  return measureOverload(session, gateway, {
    first: chat(first, buildChatBody(BURST)),
    second: chat(second, buildChatBody(BURST)),
    whole: chat(second, buildChatBody()),
    crowd: chat(first, buildChatBody(LONG)),
    held: chat(third, buildChatBody(HELD)),
    operator: `GET /v1/admin/accounts?limit=1 HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n\r\n`,
  })
}

/** A usual answer of an agent, which costs much more than its refusal. */
const BURST = { chunks: 200, chunksPerSecond: 0 }
/** Paid streams that began before the overload and last as long as it does. */
const HELD = { chunks: 70, chunksPerSecond: 10 }
const LONG = { chunks: 240, chunksPerSecond: 4 }
const CREDIT_USD = 1_000_000

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
  const account = await post('/v1/admin/accounts', { name: 'Overload', credit_usd: CREDIT_USD })
  const scopes = { scopes: ['inference'] }
  return String((await post(`/v1/admin/accounts/${String(account['id'])}/api-keys`, scopes))['key'])
}

function tabulate(samples: ReadonlyMap<string, OverloadSample>): MetricRow[] {
  const row = (label: string, figure: (sample: OverloadSample) => string): MetricRow => ({
    label,
    cells: Object.fromEntries([...samples].map(([id, sample]) => [id, figure(sample)])),
  })
  const [any] = samples.values()
  const factors = any?.steps.map(({ factor }) => factor) ?? []
  return [
    row('capacity, answers/s', ({ capacityPerSecond }) => formatCount(capacityPerSecond)),
    ...factors.flatMap((factor, index) => [
      row(`${factor} × capacity: useful answers/s`, ({ steps }) => formatCount(steps[index]?.goodput ?? NaN)),
      row('… answer p50 / p99', ({ steps }) => describeLatency(steps[index]?.flood)),
      row('… refused/s, not sent/s, late/s', ({ steps }) => describeRest(steps[index])),
      row('… refusal p50 / p99', ({ steps }) => describeRefusal(steps[index]?.flood)),
      row('… operators answered', ({ steps }) => describeAnswered(steps[index]?.operator)),
      row('… earlier streams finished', ({ steps }) => describeFinished(steps[index]?.held)),
      row('… its core busy, %', ({ steps }) => formatCount(100 * (steps[index]?.busyShare ?? NaN))),
      row('… RSS, MiB', ({ steps }) => formatCount(steps[index]?.rssMib ?? NaN)),
    ]),
    row('share of an account that asks for 1 × beside one that asks for 5 ×', ({ fairShare }) =>
      formatRatio(fairShare),
    ),
    row('quiet account alone: answered in time', ({ alone }) => describeAnswered(alone)),
    row('quiet account beside 5,000 streams: answered in time', ({ beside }) => describeAnswered(beside)),
    row('… p50 / p99', ({ beside }) => describeLatency(beside)),
    row('… streams of the other account begun', ({ crowdBegun }) => formatCount(crowdBegun)),
  ]
}

function describeLatency(figures: OpenLoopFigures | undefined): string {
  if (figures === undefined) return '–'
  return `${formatCount(figures.latencyP50Ms)} / ${formatCount(figures.latencyP99Ms)} ms`
}

function describeRefusal(figures: OpenLoopFigures | undefined): string {
  if (figures === undefined || figures.refused === 0) return '–'
  return `${formatCount(figures.refusalP50Ms)} / ${formatCount(figures.refusalP99Ms)} ms`
}

function describeRest(step: OverloadSample['steps'][number] | undefined): string {
  if (step === undefined) return '–'
  const { flood, seconds } = step
  return [flood.refused, flood.unsent, flood.late].map((count) => formatCount(count / seconds)).join(', ')
}

function describeAnswered(figures: OpenLoopFigures | undefined): string {
  return figures === undefined ? '–' : `${formatCount(figures.useful)} of ${formatCount(figures.due)}`
}

/** These streams last longer than the deadline. */
function describeFinished(figures: OpenLoopFigures | undefined): string {
  if (figures === undefined) return '–'
  return `${formatCount(figures.useful + figures.late)} of ${formatCount(figures.due)}`
}

function judge(id: string, { steps, fairShare, alone, beside }: OverloadSample): Verdict[] {
  const best = Math.max(...steps.map(({ goodput }) => goodput))
  const last = steps.at(-1)
  const refusalMs = Math.max(0, ...steps.map(({ flood }) => (flood.refused > 0 ? flood.refusalP99Ms : 0)))
  const shortOf = ({ useful, due }: OpenLoopFigures): number => due - useful
  const cut = steps.reduce((sum, { held }) => sum + held.failures + held.refused, 0)
  const kept = steps.reduce((sum, { operator }) => sum + operator.refused + operator.failures, 0)
  return [
    {
      target: `${id}: useful answers at ${last?.factor ?? 0} × are within 20 % of the best`,
      measured: formatRatio((last?.goodput ?? 0) / best),
      isMet: (last?.goodput ?? 0) >= GOODPUT_SHARE_MIN * best,
    },
    {
      target: `${id}: 99 % of refusals arrive within ${REFUSAL_MS_MAX} ms, and all say when to come again`,
      measured: `${formatCount(refusalMs)} ms`,
      isMet:
        refusalMs <= REFUSAL_MS_MAX && steps.every(({ flood }) => flood.refused === flood.refusedWithPause),
    },
    {
      target: `${id}: streams that began before are not cut, and operators are not refused`,
      measured: `${formatCount(cut)} cut, ${formatCount(kept)} refused`,
      isMet: cut === 0 && kept === 0,
    },
    {
      target: `${id}: an account that asks for 1 × beside one with 5 × gets its half, within 20 %`,
      measured: formatRatio(fairShare),
      isMet: fairShare >= FAIR_SHARE_MIN,
    },
    {
      target: `${id}: a quiet account beside 5,000 streams is answered as alone, within 20 %`,
      measured: `${formatCount(shortOf(alone))} missing alone, ${formatCount(shortOf(beside))} beside them`,
      isMet: beside.useful / beside.due >= GOODPUT_SHARE_MIN * (alone.useful / alone.due),
    },
  ]
}
