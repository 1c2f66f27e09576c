import { buildChatBody, buildMessagesBody, buildRequest, buildResponsesBody } from '../build-request.ts'
import { formatCount, formatRatio } from '../format-figure.ts'
import type { RunningContestant } from '../running-contestant.ts'
import { median, sum } from '../statistics.ts'
import { measureCrowds } from './measure-crowds.ts'
import { cpuPerRequestUs, figuresOf } from './request-samples.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

/** The same question on each wire: what does a Messages or Responses request cost compared with a chat request? */
export const wires: Scenario = {
  id: 'wires',
  run: async (session) => {
    const gateway = session.contestants.find(({ id }) => id === 'parkway')
    if (gateway === undefined) return { rows: [], verdicts: [], samples: {} }
    const reports = []
    for (const isStream of [false, true]) reports.push(await runForm(session, gateway, isStream))
    return {
      rows: reports.flatMap(({ rows }) => rows),
      verdicts: reports.flatMap(({ verdicts }) => verdicts),
      samples: reports.map(({ samples }) => samples),
    }
  },
}

interface Question {
  readonly name: string
  readonly path: string
  readonly body: (isStream: boolean) => object
  /** Maximum cost relative to a chat request. Null if it is only reported. */
  readonly ratioMax: number | null
}

const CHUNKS = 16
const RATIO_MAX = 1.25
const CHAT = 'chat'

const QUESTIONS: readonly Question[] = [
  {
    name: CHAT,
    path: '/v1/chat/completions',
    body: (isStream) => buildChatBody(isStream ? { chunks: CHUNKS, chunksPerSecond: 0 } : undefined),
    ratioMax: null,
  },
  {
    name: 'Messages, passed through',
    path: '/v1/messages',
    body: (isStream) => buildMessagesBody({ model: 'claude-sonnet-5', isStream }),
    ratioMax: RATIO_MAX,
  },
  {
    name: 'Messages, translated to chat',
    path: '/v1/messages',
    body: (isStream) => buildMessagesBody({ model: 'gpt-4o-mini', isStream }),
    ratioMax: null,
  },
  {
    name: 'Responses, passed through',
    path: '/v1/responses',
    body: (isStream) => buildResponsesBody({ isStream, isStored: false }),
    ratioMax: RATIO_MAX,
  },
  {
    name: 'Responses, passed through and stored',
    path: '/v1/responses',
    body: (isStream) => buildResponsesBody({ isStream, isStored: true }),
    ratioMax: null,
  },
]

async function runForm(session: BenchSession, gateway: RunningContestant, isStream: boolean) {
  const asked = QUESTIONS.map(({ name, path, body }) => ({
    ...gateway,
    id: name,
    request: buildRequest({ path, headers: gateway.requestHeaders, body: body(isStream) }),
  }))
  const samples = await measureCrowds(session, asked, {
    calibrationMs: session.options.isQuick ? 500 : 4_000,
    label: `wires, ${isStream ? 'streamed' : 'whole'}`,
  })
  const form = isStream ? `streamed (${CHUNKS} chunks)` : 'whole'
  const row = (label: string, cell: string): MetricRow => ({ label, cells: { parkway: cell } })
  const rows = QUESTIONS.map(({ name }) =>
    row(`CPU µs a request, ${form}: ${name}`, formatCount(median(cpuPerRequestUs(samples, name)))),
  )
  const failures = QUESTIONS.map(({ name }) =>
    sum(figuresOf(samples, name, ({ crowded }) => crowded.failures)),
  )
  rows.push(row(`failed requests, ${form}`, formatCount(sum(failures))))
  const verdicts = QUESTIONS.flatMap(({ name, ratioMax }): Verdict[] => {
    if (name === CHAT) return []
    const ofChat = cpuPerRequestUs(samples, CHAT)
    const ratios = cpuPerRequestUs(samples, name).map((us, round) => us / (ofChat[round] ?? Number.NaN))
    const measured = median(ratios)
    return [
      {
        target: `${name}, ${form}: CPU a request ${ratioMax === null ? 'beside' : `at most ${ratioMax} ×`} that of chat`,
        measured: formatRatio(measured),
        isMet: ratioMax === null ? null : measured <= ratioMax,
      },
    ]
  })
  return { rows, verdicts, samples: { isStream, ...Object.fromEntries(samples) } }
}
