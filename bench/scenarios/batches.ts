import { setTimeout as sleep } from 'node:timers/promises'
import { buildChatBody, buildRequest } from '../build-request.ts'
import { createParkway } from '../contestants/parkway.ts'
import { formatCount, formatMicroseconds, formatRatio } from '../format-figure.ts'
import type { ExchangeResult } from '../load/load-job.ts'
import type { RunningContestant } from '../running-contestant.ts'
import type { BenchSession, MetricRow, Scenario, Verdict } from './scenario.ts'

const ID = 'parkway-batches'
const CHAT = '/v1/chat/completions'
const LINES = 50_000
const LINES_QUICK = 10_000
/** So that a file of as many lines has nearly 200 MB. */
const LARGE_LINE_LENGTH = 3_900
const LARGE_SECONDS_MAX = 20
const LARGE_ADDED_MIB_MAX = 100
const CROWD = 64
const HTTP_MS = 15_000
const BESIDE_MS = 10_000
const WARMUP_MS = 1_000
const POLL_MS = 100
const RATIO_MIN = 1
const LATENCY_RATIO_MAX = 1.1

/** Lines of a batch against the same requests over HTTP, and requests of people with and without a batch beside them. */
export const batches: Scenario = {
  id: 'batches',
  contestants: [createParkway({ id: ID })],
  run: async (session) => {
    const gateway = session.contestants.find(({ id }) => id === ID)
    if (gateway === undefined) return { rows: [], verdicts: [], samples: {} }
    const sample = await measureGateway(session, gateway)
    return {
      rows: tabulate(sample),
      verdicts: judge(sample),
      samples: sample,
      usageRowsBefore: new Map([[ID, sample.linesAnswered]]),
    }
  },
}

interface BatchSample {
  readonly lines: number
  readonly large: LargeCheck
  readonly checkSeconds: number
  readonly runSeconds: number
  readonly batchCpuUs: number
  readonly http: ExchangeResult
  readonly quiet: ExchangeResult
  readonly beside: ExchangeResult
  /** Lines that the second batch answered beside the requests, in a second. */
  readonly besideLinesPerSecond: number
  /** Of both batches. */
  readonly linesAnswered: number
}

async function measureGateway(session: BenchSession, gateway: RunningContestant): Promise<BatchSample> {
  const { note, options, load } = session
  const lines = options.isQuick ? LINES_QUICK : LINES
  const large = await checkLargeFile(gateway)
  note(`batches: a large file after ${large.seconds.toFixed(1)} s`)
  const fileId = await uploadLines(gateway, lines)
  const cpuBefore = gateway.process.usage()?.cpuMicroseconds ?? Number.NaN
  const whole = await runBatch(gateway, fileId)
  const batchCpuUs = (gateway.process.usage()?.cpuMicroseconds ?? Number.NaN) - cpuBefore
  note(`batches: ${lines} lines after ${whole.runSeconds.toFixed(1)} s`)
  const request = buildRequest({ path: CHAT, headers: gateway.requestHeaders, body: buildChatBody() })
  const job = { port: gateway.port, request, warmupMs: WARMUP_MS }
  const http = await load.runExchanges({ ...job, concurrency: CROWD, durationMs: HTTP_MS })
  const quiet = await load.runExchanges({ ...job, concurrency: 1, durationMs: BESIDE_MS })
  const { id } = await createBatch(gateway, fileId)
  await waitUntil(gateway, id, ({ request_counts: counts }) => counts.completed > 0)
  const before = await readBatch(gateway, id)
  const beside = await load.runExchanges({ ...job, concurrency: 1, durationMs: BESIDE_MS })
  const after = await readBatch(gateway, id)
  // A short one may have ended.
  if (!ENDED.has(after.status)) await ask(gateway, 'POST', `/v1/batches/${id}/cancel`)
  const ended = await waitUntil(gateway, id, ({ status }) => ENDED.has(status))
  return {
    lines,
    large,
    ...whole,
    batchCpuUs,
    http,
    quiet,
    beside,
    besideLinesPerSecond:
      ((after.request_counts.completed - before.request_counts.completed) * 1000) / (BESIDE_MS + WARMUP_MS),
    linesAnswered: lines + ended.request_counts.completed,
  }
}

interface Batch {
  readonly id: string
  readonly status: string
  readonly request_counts: { readonly completed: number; readonly failed: number }
}

const ENDED = new Set(['failed', 'completed', 'expired', 'cancelled'])

async function runBatch(gateway: RunningContestant, fileId: string) {
  const beganMs = performance.now()
  const { id } = await createBatch(gateway, fileId)
  await waitUntil(gateway, id, ({ status }) => status !== 'validating')
  const checkedMs = performance.now()
  const { status, request_counts: counts } = await waitUntil(gateway, id, (batch) => ENDED.has(batch.status))
  if (status !== 'completed' || counts.failed > 0) throw new Error(`the batch is ${status}`)
  const endedMs = performance.now()
  return { checkSeconds: (checkedMs - beganMs) / 1000, runSeconds: (endedMs - beganMs) / 1000 }
}

interface LargeCheck {
  readonly seconds: number
  /** Of the gateway's process with its database, at most, beyond what it had before. */
  readonly addedMib: number
}

/** The largest file. Its last line is wrong, so that nothing is asked. */
async function checkLargeFile(gateway: RunningContestant): Promise<LargeCheck> {
  const lineOf = (index: number): string =>
    `${JSON.stringify({
      custom_id: `line-${index}`,
      method: 'POST',
      url: CHAT,
      body: {
        model: 'gpt-4o-mini',
        max_tokens: 16,
        messages: [{ role: 'user', content: 'x'.repeat(LARGE_LINE_LENGTH) }],
      },
    })}\n`
  const fileId = await upload(gateway, [
    ...Array.from({ length: LINES - 1 }, (_, index) => lineOf(index)),
    '{}\n',
  ])
  const memoryMib = (): number => gateway.process.usage()?.rssOfLargestMib ?? Number.NaN
  const beforeMib = memoryMib()
  const beganMs = performance.now()
  const { id } = await createBatch(gateway, fileId)
  let highestMib = beforeMib
  for (;;) {
    const { status } = await readBatch(gateway, id)
    highestMib = Math.max(highestMib, memoryMib())
    if (status === 'failed') break
    await sleep(POLL_MS)
  }
  return { seconds: (performance.now() - beganMs) / 1000, addedMib: highestMib - beforeMib }
}

function uploadLines(gateway: RunningContestant, count: number): Promise<string> {
  const line = (index: number): string =>
    `${JSON.stringify({ custom_id: `line-${index}`, method: 'POST', url: CHAT, body: buildChatBody() })}\n`
  return upload(
    gateway,
    Array.from({ length: count }, (_, index) => line(index)),
  )
}

async function upload(gateway: RunningContestant, lines: readonly string[]): Promise<string> {
  const body = new FormData()
  body.set('purpose', 'batch')
  body.set('file', new Blob([...lines]), 'lines.jsonl')
  const answer = await fetch(`http://127.0.0.1:${gateway.port}/v1/files`, {
    method: 'POST',
    headers: gateway.requestHeaders,
    body,
  })
  if (!answer.ok) throw new Error(`the lines are refused: ${await answer.text()}`)
  return ((await answer.json()) as { id: string }).id
}

const createBatch = (gateway: RunningContestant, fileId: string): Promise<Batch> =>
  ask(gateway, 'POST', '/v1/batches', { input_file_id: fileId, endpoint: CHAT, completion_window: '24h' })

const readBatch = (gateway: RunningContestant, id: string): Promise<Batch> =>
  ask(gateway, 'GET', `/v1/batches/${id}`)

async function waitUntil(
  gateway: RunningContestant,
  id: string,
  isReached: (batch: Batch) => boolean,
): Promise<Batch> {
  for (;;) {
    const batch = await readBatch(gateway, id)
    if (isReached(batch)) return batch
    if (ENDED.has(batch.status)) throw new Error(`the batch is ${batch.status}`)
    await sleep(POLL_MS)
  }
}

async function ask(
  { port, requestHeaders }: RunningContestant,
  method: string,
  path: string,
  body?: object,
): Promise<Batch> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { ...requestHeaders, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${method} ${path} answers ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Batch
}

const linesPerSecond = ({ lines, runSeconds }: BatchSample): number => lines / runSeconds

function tabulate(sample: BatchSample): MetricRow[] {
  const row = (label: string, cell: string): MetricRow => ({ label, cells: { [ID]: cell } })
  const { lines, http, quiet, beside } = sample
  return [
    row('check of a file of 200 MB', `${sample.large.seconds.toFixed(1)} s`),
    row('… memory', `+${formatCount(sample.large.addedMib)} MiB`),
    row('lines of a batch', formatCount(lines)),
    row('… checked in', `${sample.checkSeconds.toFixed(1)} s`),
    row('… answered and written in', `${sample.runSeconds.toFixed(1)} s`),
    row('… lines/s', formatCount(linesPerSecond(sample))),
    row('… CPU µs a line', formatCount(sample.batchCpuUs / lines)),
    row(`the same over HTTP, requests/s, c=${CROWD}`, formatCount(http.exchangesPerSecond)),
    row('chat, one at a time, quiet: p50', formatMicroseconds(quiet.latencyP50Us)),
    row('… p99', formatMicroseconds(quiet.latencyP99Us)),
    row('chat beside a batch: p50', formatMicroseconds(beside.latencyP50Us)),
    row('… p99', formatMicroseconds(beside.latencyP99Us)),
    row('… lines/s of the batch', formatCount(sample.besideLinesPerSecond)),
  ]
}

function judge(sample: BatchSample): Verdict[] {
  const speed = linesPerSecond(sample) / sample.http.exchangesPerSecond
  const p50 = sample.beside.latencyP50Us / sample.quiet.latencyP50Us
  const p99 = sample.beside.latencyP99Us / sample.quiet.latencyP99Us
  return [
    {
      target: `${ID}: a file of 200 MB is checked within ${LARGE_SECONDS_MAX} s and ${LARGE_ADDED_MIB_MAX} MiB`,
      measured: `${sample.large.seconds.toFixed(1)} s, +${formatCount(sample.large.addedMib)} MiB`,
      isMet: sample.large.seconds <= LARGE_SECONDS_MAX && sample.large.addedMib <= LARGE_ADDED_MIB_MAX,
    },
    {
      target: `${ID}: lines are answered as fast as over HTTP with ${CROWD} connections`,
      measured: `${formatRatio(speed)} times`,
      isMet: speed >= RATIO_MIN,
    },
    {
      target: `${ID}: p50 and p99 of a request are within ${LATENCY_RATIO_MAX} times the quiet ones beside a batch`,
      measured: `p50 ${formatRatio(p50)} times, p99 ${formatRatio(p99)} times`,
      isMet: p50 <= LATENCY_RATIO_MAX && p99 <= LATENCY_RATIO_MAX,
    },
  ]
}
