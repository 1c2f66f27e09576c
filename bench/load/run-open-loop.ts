import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../statistics.ts'
import type { OpenLoopFigures, OpenLoopJob, OpenLoopResult } from './load-job.ts'
import { openRawConnection } from './raw-connection.ts'
import type { RawConnection } from './raw-connection.ts'

const TICK_MS = 2
const DRAIN_MS_MAX = 5_000
const SAMPLES_MAX = 1_000_000
const REASON_BYTES_MAX = 300
const ERROR_FRAME = Buffer.from('data: {"error"')
const CHUNK = Buffer.from('data: {')
const FIRST_TOKEN_EVENTS = 2
const REFUSAL_STATUS = 503

type Source = OpenLoopJob['sources'][number]

/** A request of a source that was sent. */
interface Sent {
  readonly state: SourceState
  readonly dueMs: number
  readonly isCounted: boolean
}

/** A connection that is used again as soon as its answer has ended. */
interface Lane {
  connection: RawConnection
  isOpen: boolean
  sent: Sent | null
  events: number
  firstBytes: string
  hasErrorFrame: boolean
}

/**
 * Sends requests when they are due, on connections that are free or new. A closed loop would wait for slow answers and so hide an
 * overload.
 */
export async function runOpenLoop(job: OpenLoopJob): Promise<OpenLoopResult> {
  const states = job.sources.map((source) => new SourceState(source, job.deadlineMs))
  const traffic = { answers: 0, cutOff: 0, cutOffWithin: 0 }
  const startMs = performance.now()

  const end = (lane: Lane): Sent | null => {
    const { sent } = lane
    lane.sent = null
    if (sent !== null) sent.state.inProgress -= 1
    return sent
  }
  const open = ({ lanes, free }: SourceState): Lane => {
    const lane: Lane = {
      isOpen: false,
      sent: null,
      events: 0,
      firstBytes: '',
      hasErrorFrame: false,
      connection: openRawConnection(job.port, {
        onOpen: () => {
          lane.isOpen = true
          if (lane.sent !== null) lane.connection.send(lane.sent.state.bytes)
        },
        onBody: (bytes) => {
          if (bytes.includes(CHUNK)) lane.events += 1
          if (lane.firstBytes === '') lane.firstBytes = bytes.toString('latin1', 0, REASON_BYTES_MAX)
          if (bytes.includes(ERROR_FRAME)) lane.hasErrorFrame = true
        },
        onAnswer: (status, head) => {
          const sent = end(lane)
          if (status === 200 && sent?.state.isCharged === true) traffic.answers += 1
          if (sent !== null) sent.state.answered(sent, { status, head, lane })
          if (/\r\nconnection: close/i.test(head)) {
            lane.connection.close()
            lanes.delete(lane)
          } else free.push(lane)
        },
        onLost: (reason) => {
          const sent = end(lane)
          lanes.delete(lane)
          const index = free.indexOf(lane)
          if (index !== -1) free.splice(index, 1)
          if (sent === null) return
          if (sent.state.isCharged) traffic.cutOff += 1
          sent.state.lost(sent, reason)
        },
      }),
    }
    lanes.add(lane)
    return lane
  }
  const send = (state: SourceState, dueMs: number): void => {
    const isCounted = dueMs >= state.countedFromMs
    if (isCounted) state.due += 1
    const lane = state.free.pop() ?? (state.lanes.size < state.connectionsMax ? open(state) : null)
    if (lane === null) {
      if (isCounted) state.unsent += 1
      return
    }
    lane.sent = { state, dueMs: startMs + dueMs, isCounted }
    lane.events = 0
    lane.firstBytes = ''
    lane.hasErrorFrame = false
    state.inProgress += 1
    if (lane.isOpen) lane.connection.send(state.bytes)
  }

  const totalMs = job.warmupMs + job.durationMs
  for (let nowMs = 0; nowMs < totalMs; nowMs = performance.now() - startMs) {
    for (const state of states) state.sendDue(nowMs, send)
    await sleep(TICK_MS)
  }
  const drainUntilMs = performance.now() + DRAIN_MS_MAX
  const isBusy = (): boolean => states.some(({ inProgress }) => inProgress > 0)
  while (isBusy() && performance.now() < drainUntilMs) await sleep(TICK_MS)
  for (const lane of states.flatMap(({ lanes }) => [...lanes])) {
    if (lane.sent !== null) {
      if (lane.sent.state.isCharged) traffic.cutOff += 1
      if (lane.events >= FIRST_TOKEN_EVENTS) traffic.cutOffWithin += 1
      if (lane.sent.isCounted) lane.sent.state.unfinished += 1
    }
    lane.connection.close()
  }
  return { ...traffic, sources: states.map((state) => state.summarise()) }
}

/** The schedule of one source, and what became of its requests. */
class SourceState {
  readonly bytes: Buffer
  readonly #source: Source
  readonly #deadlineMs: number
  readonly #latencies: number[] = []
  readonly #refusals: number[] = []
  #useful = 0
  #late = 0
  #refused = 0
  #refusedWithPause = 0
  #failures = 0
  #firstFailure: string | null = null
  #nextMs: number
  readonly lanes = new Set<Lane>()
  readonly free: Lane[] = []
  readonly countedFromMs: number
  readonly connectionsMax: number
  readonly isCharged: boolean
  inProgress = 0
  due = 0
  unsent = 0
  unfinished = 0

  constructor(source: Source, deadlineMs: number) {
    this.#source = source
    this.#deadlineMs = deadlineMs
    this.#nextMs = source.fromMs
    this.countedFromMs = source.countedFromMs
    this.connectionsMax = source.connectionsMax
    this.isCharged = source.isCharged
    this.bytes = Buffer.from(source.request, 'latin1')
  }

  sendDue(nowMs: number, send: (state: SourceState, dueMs: number) => void): void {
    const { perSecond, untilMs, inProgressMax } = this.#source
    while (this.#nextMs <= nowMs && this.#nextMs < untilMs) {
      if (this.inProgress < inProgressMax) send(this, this.#nextMs)
      this.#nextMs += 1000 / perSecond
    }
  }

  answered(
    { dueMs, isCounted }: Sent,
    { status, head, lane }: { status: number; head: string; lane: Lane },
  ): void {
    if (!isCounted) return
    const elapsedMs = performance.now() - dueMs
    if (status === REFUSAL_STATUS) {
      this.#refused += 1
      if (/\r\nretry-after: \d/i.test(head)) this.#refusedWithPause += 1
      if (this.#refusals.length < SAMPLES_MAX) this.#refusals.push(elapsedMs)
    } else if (status !== 200 || lane.hasErrorFrame) this.#fail(`status ${status}: ${lane.firstBytes}`)
    else {
      if (this.#latencies.length < SAMPLES_MAX) this.#latencies.push(elapsedMs)
      if (elapsedMs <= this.#deadlineMs) this.#useful += 1
      else this.#late += 1
    }
  }

  lost({ isCounted }: Sent, reason: string): void {
    if (isCounted) this.#fail(reason)
  }

  #fail(reason: string): void {
    this.#failures += 1
    this.#firstFailure ??= reason
  }

  summarise(): OpenLoopFigures {
    return {
      due: this.due,
      unsent: this.unsent,
      useful: this.#useful,
      late: this.#late,
      refused: this.#refused,
      refusedWithPause: this.#refusedWithPause,
      failures: this.#failures,
      firstFailure: this.#firstFailure,
      unfinished: this.unfinished,
      latencyP50Ms: percentile(this.#latencies, 0.5),
      latencyP99Ms: percentile(this.#latencies, 0.99),
      refusalP50Ms: percentile(this.#refusals, 0.5),
      refusalP99Ms: percentile(this.#refusals, 0.99),
    }
  }
}
