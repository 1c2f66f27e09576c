import { BoundedMap } from '../../../kernel/bounded-map.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { MessageBus } from '../../../storage/bus/message-bus.ts'
import type { CellEnd, CellKey } from '../cells/cell-writer.ts'
import {
  decodeFollow,
  ENTRIES_MAX,
  FOLLOW_TOPIC,
  LIVE_TOPIC,
  TEXT_LENGTH_MAX,
  type LiveMessage,
} from './live-message.ts'

/** Sends the answers of this process's runs to all processes while they are written, if somebody follows the run. */
export interface LiveSender {
  /** For a run that this process works on from now on. */
  open(runId: string): LiveRun
  close(): void
}

export interface LiveRun {
  /** Begins the text of a cell anew. Returns what takes its whole text each time it has grown. */
  begin(key: CellKey): (text: string) => void
  /** Forgets the text of a cell. Followers learn of a cell that was answered or failed. */
  end(key: CellKey, status: CellEnd['status'] | 'lost'): void
  close(): void
}

interface CellText {
  readonly key: CellKey
  readonly attempt: number
  text: string
  sentLength: number
}

interface LiveSenderOptions {
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publish'>
  readonly clock: Clock
}

/** One message for each followed run. */
const SEND_MS = 100
/** Longer than the pause between two requests of a follower. */
const FOLLOWED_MS = 15_000
const ASKED_MAX = 1_000
/** Followers that fall behind read the cells themselves. */
const ENDED_MAX = 1_000

export function createLiveSender({ messageBus, clock }: LiveSenderOptions): LiveSender {
  const runs = new Map<string, RunTexts>()
  /** Runs that were asked for lately. A run may be followed before a process has claimed it. */
  const asked = new BoundedMap<string, number>({ entriesMax: ASKED_MAX })
  let ticker: NodeJS.Timeout | null = null

  const send = (message: LiveMessage | null): void => {
    // Followers read from the database what a message did not tell them.
    if (message !== null) messageBus.publish(LIVE_TOPIC, JSON.stringify(message)).catch(() => {})
  }
  const stop = (): void => {
    if (ticker !== null) clearInterval(ticker)
    ticker = null
  }
  const tick = (): void => {
    const followed = [...runs.values()].filter(({ isFollowed }) => isFollowed)
    if (followed.length === 0) stop()
    for (const run of followed) send(run.takeMessage())
  }
  const unsubscribe = messageBus.subscribe(FOLLOW_TOPIC, (text) => {
    const request = decodeFollow(text)
    if (request === null) return
    const untilMs = performance.now() + FOLLOWED_MS
    asked.set(request.runId, untilMs)
    const run = runs.get(request.runId)
    if (run === undefined) return
    run.follow(untilMs, request.isFromStart)
    start()
  })
  const start = (): void => {
    ticker ??= setInterval(tick, SEND_MS).unref()
  }

  return {
    open(runId) {
      const run = new RunTexts(runId, clock)
      runs.set(runId, run)
      run.follow(asked.get(runId) ?? -Infinity, true)
      if (run.isFollowed) start()
      return {
        begin: (key) => run.begin(key),
        end: (key, status) => run.end(key, status),
        close: () => {
          runs.delete(runId)
          if (run.isFollowed) send({ runId, pieces: [], ended: [], isRunOver: true })
        },
      }
    },
    close: () => {
      stop()
      unsubscribe()
    },
  }
}

/** The texts of the cells of one run that are being answered. */
class RunTexts {
  readonly #runId: string
  readonly #clock: Clock
  readonly #cells = new Map<string, CellText>()
  readonly #ended: LiveMessage['ended'] = []
  #followedUntilMs = -Infinity

  constructor(runId: string, clock: Clock) {
    this.#runId = runId
    this.#clock = clock
  }

  get isFollowed(): boolean {
    return performance.now() < this.#followedUntilMs
  }

  follow(untilMs: number, isFromStart: boolean): void {
    this.#followedUntilMs = untilMs
    if (isFromStart) for (const cell of this.#cells.values()) cell.sentLength = 0
  }

  begin(key: CellKey): (text: string) => void {
    const cell = { key, attempt: this.#clock.nowMs(), text: '', sentLength: 0 }
    this.#cells.set(nameOf(key), cell)
    return (text) => {
      cell.text = text
    }
  }

  end(key: CellKey, status: CellEnd['status'] | 'lost'): void {
    this.#cells.delete(nameOf(key))
    if (status !== 'completed' && status !== 'failed') return
    if (this.isFollowed && this.#ended.length < ENDED_MAX) this.#ended.push({ ...key, status })
  }

  /** Takes what was not sent yet, up to the size of a message. The rest has its turn in the next one. */
  takeMessage(): LiveMessage | null {
    const pieces: LiveMessage['pieces'] = []
    let lengthLeft = TEXT_LENGTH_MAX
    for (const [name, cell] of this.#cells) {
      const { key, attempt, sentLength: offset } = cell
      if (offset === cell.text.length) continue
      const text = cell.text.slice(offset, offset + lengthLeft)
      pieces.push({ ...key, attempt, offset, text })
      cell.sentLength += text.length
      lengthLeft -= text.length
      // To the end of the line, so that a long text does not hold up the others.
      this.#cells.delete(name)
      this.#cells.set(name, cell)
      if (lengthLeft === 0 || pieces.length === ENTRIES_MAX) break
    }
    const ended = this.#ended.splice(0, ENTRIES_MAX)
    if (pieces.length === 0 && ended.length === 0) return null
    return { runId: this.#runId, pieces, ended, isRunOver: false }
  }
}

export function nameOf({ promptIndex, repeat, lanePosition }: CellKey): string {
  return `${promptIndex} ${repeat} ${lanePosition}`
}
