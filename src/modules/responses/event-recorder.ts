import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { Database } from '../../storage/database.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import { listItemIds } from './response-items.ts'
import type { ResponseChanges } from './response-changes.ts'
import { countEvents, LAST_EVENT, writeAnswer, writeEvents, type WrittenPlace } from './response-events.ts'

interface RecorderOptions {
  readonly database: Database
  readonly changes: Pick<ResponseChanges, 'announce'>
  /** Called when the claim is lost. Throws the reason. */
  readonly giveUp: () => Promise<never>
}

interface RecordedResponse extends WrittenPlace {
  /** Whether the client wants events. Only then they are stored. */
  readonly isStreamed: boolean
}

/** Maximum delay before an event is written. */
const FLUSH_MS = 100
const FLUSH_BYTES = 64 * 1024
const EVENTS_BYTES_MAX = 64 * 1024 * 1024

/** Stores the events of a response in batches while it is made, and remembers the last event. */
export class EventRecorder {
  readonly #options: RecorderOptions
  readonly #recorded: RecordedResponse
  #waiting: string[] = []
  #waitingBytes = 0
  #bytes = 0
  #sequence = 0
  #flushedMs = performance.now()
  #timer: NodeJS.Timeout | undefined
  /** Writes are sequential. After a failed write there are no more. */
  #flushing: Promise<void> = Promise.resolve()
  #last: Buffer | null = null
  #hasTold = false

  constructor(options: RecorderOptions, recorded: RecordedResponse) {
    this.#options = options
    this.#recorded = recorded
  }

  /** Whether a client may have read some of the events. */
  get hasTold(): boolean {
    return this.#hasTold
  }

  /** Whether a client may have read events of an earlier attempt: an answer that was partly read must not be made again. */
  async isBegun(): Promise<boolean> {
    if (!this.#recorded.isStreamed) return false
    const { count } = await countEvents(this.#options.database, this.#recorded)
    return count > 0
  }

  async add(batch: readonly Buffer[]): Promise<void> {
    this.#last = batch.at(-1) ?? this.#last
    if (!this.#recorded.isStreamed) return
    for (const payload of batch) {
      // A line break in JSON is only white space.
      const event = payload.toString().replaceAll('\n', ' ')
      this.#waiting.push(event)
      this.#waitingBytes += payload.length
      this.#bytes += payload.length
    }
    if (this.#bytes > EVENTS_BYTES_MAX)
      throw new AppError(
        'request_too_large',
        `The events of a response take ${EVENTS_BYTES_MAX} bytes at most.`,
      )
    // The last event is written together with the answer.
    if (this.#hasEnd()) return this.stop()
    const dueInMs = this.#flushedMs + FLUSH_MS - performance.now()
    if (dueInMs <= 0 || this.#waitingBytes >= FLUSH_BYTES) return this.#flush()
    // The next `add` or `finish` reports a failed write. A worker that lost its claim is stopped by that.
    this.#timer ??= setTimeout(() => void this.#flush().catch(() => {}), dueInMs)
  }

  /** Stops the timed writes. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #hasEnd(): boolean {
    return LAST_EVENT.test(this.#waiting.at(-1) ?? '')
  }

  #flush(): Promise<void> {
    this.stop()
    this.#flushing = this.#flushing.then(() => this.#write())
    return this.#flushing
  }

  async #write(): Promise<void> {
    const events = this.#waiting
    if (events.length === 0 || this.#hasEnd()) return
    this.#waiting = []
    this.#waitingBytes = 0
    const hadTold = this.#hasTold
    // Set before the database replies, because the reply may be lost.
    this.#hasTold = true
    if (!(await writeEvents(this.#options.database, this.#recorded, { sequence: this.#sequence, events }))) {
      this.#hasTold = hadTold
      await this.#options.giveUp()
    }
    this.#sequence += events.length
    this.#flushedMs = performance.now()
    this.#options.changes.announce(this.#recorded.responseId)
  }

  /** Writes the answer and the last events in one transaction, so that a reader sees both or neither. Returns the response. */
  async finish(): Promise<Readonly<Record<string, unknown>>> {
    const { database, changes } = this.#options
    await this.#flushing
    const response = this.#readResponse()
    const output = Array.isArray(response['output']) ? response['output'].filter(isRecord) : []
    const answer = { response: stringifyJson(response), itemIds: listItemIds(output) }
    const last = { sequence: this.#sequence, events: this.#waiting }
    const isWritten = await database.transaction(async (transaction) => {
      // The row lock of the first statement keeps the claim until both are written.
      if (!(await writeAnswer(transaction, this.#recorded, answer))) return false
      return last.events.length === 0 || (await writeEvents(transaction, this.#recorded, last))
    })
    if (!isWritten) await this.#options.giveUp()
    changes.announce(this.#recorded.responseId)
    return response
  }

  /** Reads the response of the last event. */
  #readResponse(): Readonly<Record<string, unknown>> {
    const event: unknown = this.#last === null ? null : JSON.parse(this.#last.toString())
    const response = isRecord(event) ? event['response'] : null
    if (!isRecord(response)) throw new Error('a response ended without its last event')
    return response
  }
}
