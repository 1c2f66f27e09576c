import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../statistics.ts'
import type { ExchangeJob, ExchangeResult } from './load-job.ts'
import { openRawConnection } from './raw-connection.ts'
import type { RawConnection } from './raw-connection.ts'

const DRAIN_MS_MAX = 3000
const FAILURES_MAX = 1000
const REASON_BYTES_MAX = 300
const NO_BYTES = Buffer.alloc(0)
const ERROR_FRAME = Buffer.from('data: {"error"')
const SAMPLES_MAX = 2_000_000

/** Keeps `concurrency` requests in progress for the given time: each answer triggers the next request on its connection. */
export async function runExchanges(job: ExchangeJob): Promise<ExchangeResult> {
  const tally = createTally()
  const nextRequest = createRequestSource(job)
  const connections = new Set<RawConnection>()
  const countedFromMs = performance.now() + job.warmupMs
  const countedUntilMs = countedFromMs + job.durationMs

  const open = () => {
    const request = nextRequest()
    let sentAtMs = 0
    let firstByteAtMs = 0
    let firstBytes: Buffer = NO_BYTES
    let hasErrorFrame = false
    const send = () => {
      firstByteAtMs = 0
      hasErrorFrame = false
      sentAtMs = performance.now()
      connection.send(request())
    }
    const connection = openRawConnection(job.port, {
      onOpen: send,
      onBody: (bytes) => {
        // Searched only if refusals are expected, because the search would distort other measurements.
        if (job.refusalStatus !== undefined && bytes.includes(ERROR_FRAME)) hasErrorFrame = true
        if (firstByteAtMs !== 0) return
        firstByteAtMs = performance.now()
        firstBytes = bytes
      },
      onAnswer: (status) => {
        const nowMs = performance.now()
        tally.exchangesWithWarmup += 1
        if (status === 200) tally.answers += 1
        if (status === 200 && hasErrorFrame) tally.brokenAnswers += 1
        if (status === job.refusalStatus) tally.refuse(nowMs - sentAtMs)
        else if (status !== 200)
          tally.fail(`status ${status}: ${firstBytes.toString('latin1', 0, REASON_BYTES_MAX)}`)
        else if (nowMs >= countedFromMs && nowMs < countedUntilMs) {
          tally.count(nowMs - sentAtMs, firstByteAtMs - sentAtMs)
        }
        if (nowMs < countedUntilMs && tally.failures < FAILURES_MAX) send()
        else {
          connection.close()
          connections.delete(connection)
        }
      },
      onLost: (reason) => {
        tally.fail(reason)
        tally.cutOff += 1
        connections.delete(connection)
        if (performance.now() < countedUntilMs && tally.failures < FAILURES_MAX) open()
      },
    })
    connections.add(connection)
  }

  for (let opened = 0; opened < job.concurrency; opened += 1) open()
  await sleep(job.warmupMs + job.durationMs)
  const drainUntilMs = performance.now() + DRAIN_MS_MAX
  while (connections.size > 0 && performance.now() < drainUntilMs) await sleep(5)
  tally.cutOff += connections.size
  for (const connection of connections) connection.close()
  return tally.summarise(job.durationMs)
}

let rotated = 0

/** Creates the requests of a connection: its own copy of the bytes, in which only the rotating digits change. */
function createRequestSource({ request, rotation }: ExchangeJob): () => () => Buffer {
  const bytes = Buffer.from(request, 'latin1')
  if (rotation === undefined) return () => () => bytes
  const { digits, count } = rotation
  const offset = bytes.indexOf(digits)
  if (offset < 0) throw new Error('the request does not hold the digits that are to rotate')
  return () => {
    // The previous request has been answered when the next one is needed, so its bytes may be changed.
    const own = Buffer.from(bytes)
    return () => {
      rotated += 1
      own.write(String(rotated % count).padStart(digits.length, '0'), offset, 'latin1')
      return own
    }
  }
}

function createTally() {
  const latencies: number[] = []
  const firstBytes: number[] = []
  const refusals: number[] = []
  return {
    exchangesWithWarmup: 0,
    answers: 0,
    cutOff: 0,
    failures: 0,
    brokenAnswers: 0,
    firstFailure: null as string | null,
    count(latencyMs: number, firstByteMs: number): void {
      if (latencies.length >= SAMPLES_MAX) return
      latencies.push(latencyMs)
      firstBytes.push(firstByteMs)
    },
    refuse(latencyMs: number): void {
      if (refusals.length < SAMPLES_MAX) refusals.push(latencyMs)
    },
    fail(reason: string): void {
      this.failures += 1
      this.firstFailure ??= reason
    },
    summarise(durationMs: number): ExchangeResult {
      return {
        exchanges: latencies.length,
        exchangesWithWarmup: this.exchangesWithWarmup,
        answers: this.answers,
        cutOff: this.cutOff,
        cutOffWithin: 0,
        failures: this.failures,
        firstFailure: this.firstFailure,
        exchangesPerSecond: latencies.length / (durationMs / 1000),
        latencyP50Us: percentile(latencies, 0.5) * 1000,
        latencyP99Us: percentile(latencies, 0.99) * 1000,
        firstByteP50Us: percentile(firstBytes, 0.5) * 1000,
        firstByteP99Us: percentile(firstBytes, 0.99) * 1000,
        refusals: refusals.length,
        refusalP50Us: percentile(refusals, 0.5) * 1000,
        refusalMaxUs: percentile(refusals, 1) * 1000,
        brokenAnswers: this.brokenAnswers,
      }
    },
  }
}
