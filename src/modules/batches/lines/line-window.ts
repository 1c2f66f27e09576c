import type { Readable } from 'node:stream'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { LineWriter } from './line-writer.ts'

/** A line to ask. */
export interface WaitingLine {
  readonly number: number
  /** Whether it was asked under its request id before. The ledger has what was charged then. */
  readonly wasAsked: boolean
  /** The part of the charge under its id that the cost of the batch has already. */
  readonly countedNanoUsd: NanoUsd
  /** How often it was begun without an end. */
  readonly tries: number
  /** The request id of a line that was begun ahead. Null: it has to be begun. */
  readonly requestId: string | null
  /** It is asked by itself, also where a vendor takes lines in batches. */
  readonly isSingle: boolean
  /** Null: the input file is gone. */
  readonly content: Buffer | null
}

interface LineRow {
  readonly number: number
  readonly was_asked: boolean
  readonly counted_nano_usd: bigint
  readonly tries: number
  readonly was_handed: boolean
  readonly first_byte: bigint
  readonly bytes: number
}

/** Opens a part of the input file. Null if it is gone. */
export type OpenInput = (range: { readonly start: number; readonly end: number }) => Promise<Readable | null>

/** Stores that lines are about to be asked. */
type BeginAhead = Pick<LineWriter, 'beginAll' | 'giveBack'>

/** Which lines are read, of those that have not ended. */
interface LineSet {
  /** Lines that were never begun are begun before they are taken, many at a time. */
  readonly ahead?: BeginAhead
  /** Those whose answer was charged and then lost. */
  readonly isPaidOnly?: boolean
  /** Those of parts that a vendor has. */
  readonly ofParts?: readonly string[]
}

const ROWS_MAX = 500
/** Of the part of the file that is in memory, unless a single line is longer. */
const PART_BYTES_MAX = 4 * 1024 * 1024
/** A process that dies leaves this many lines, and those that it asks, as begun. */
const PART_LINES_MAX = 250
/** Further lines are read while this many are left. */
const LINES_LOW = 200

/** The next lines of a batch in their order, with their content. */
export class LineWindow {
  readonly #queryable: Queryable
  readonly #batchId: string
  readonly #open: OpenInput
  readonly #lineSet: LineSet
  #rows: LineRow[] = []
  #lines: WaitingLine[] = []
  #after = 0
  #isExhausted = false
  #filling: Promise<void> | null = null

  constructor(queryable: Queryable, batchId: string, open: OpenInput, lineSet: LineSet = {}) {
    this.#lineSet = lineSet
    this.#queryable = queryable
    this.#batchId = batchId
    this.#open = open
  }

  /** Whether no line is left to take. */
  get isEmpty(): boolean {
    return this.#lines.length === 0 && this.#rows.length === 0 && this.#isExhausted && this.#filling === null
  }

  /** Returns the next line, unless it is longer. */
  take(bytesMax: number): WaitingLine | null {
    const [next] = this.#lines
    return next === undefined || bytesOf(next) > bytesMax ? null : (this.#lines.shift() ?? null)
  }

  /** The line is asked again before the others. */
  putBack(line: WaitingLine): void {
    this.#lines.unshift(line)
  }

  /**
   * Reads further lines if few are in memory, and waits for them if there is none.
   * @param onFilled called when lines were read for which it did not wait
   */
  async fill(onFilled: () => void = () => {}): Promise<void> {
    const isRead = this.#rows.length === 0 && this.#isExhausted && this.#filling === null
    if (isRead || this.#lines.length > LINES_LOW) return
    const isNew = this.#filling === null
    const filling = (this.#filling ??= this.#fill().finally(() => (this.#filling = null)))
    if (this.#lines.length === 0) return filling
    // A failure is met again when none is left.
    if (isNew) filling.then(onFilled, onFilled)
  }

  /** Lines that were begun and not taken may be asked by others. Call it when no further line is taken. */
  async close(): Promise<void> {
    await this.#filling?.catch(() => {})
    const numbers = this.#lines.flatMap(({ number, requestId }) => (requestId === null ? [] : [number]))
    this.#lines = this.#lines.map((line) => ({ ...line, requestId: null }))
    await this.#lineSet.ahead?.giveBack(numbers)
  }

  async #fill(): Promise<void> {
    if (this.#rows.length === 0) await this.#readRows()
    const [first] = this.#rows
    if (first === undefined) return
    const start = Number(first.first_byte)
    let count = 1
    const rowsMax = Math.min(this.#rows.length, PART_LINES_MAX)
    while (count < rowsMax && endOf(this.#rows[count]) - start <= PART_BYTES_MAX) count += 1
    const part = this.#rows.slice(0, count)
    const content = await this.#readPart(start, endOf(part.at(-1)))
    const requestIds = await this.#beginAhead(part)
    this.#rows = this.#rows.slice(count)
    for (const row of part) {
      const at = Number(row.first_byte) - start
      this.#lines.push({
        number: row.number,
        wasAsked: row.was_asked,
        countedNanoUsd: row.counted_nano_usd,
        tries: row.tries,
        requestId: requestIds.get(row.number) ?? null,
        isSingle: row.was_handed && this.#lineSet.ofParts === undefined,
        // A copy, because a line that waits for hours would keep the whole part in memory.
        content: content === null ? null : Buffer.from(content.subarray(at, at + row.bytes)),
      })
    }
  }

  /** A line that was interrupted before is begun by itself, so that one that kills the process takes few others along. */
  async #beginAhead(rows: readonly LineRow[]): Promise<ReadonlyMap<number, string>> {
    const fresh = rows.filter(({ was_asked: wasAsked, tries }) => !wasAsked && tries === 0)
    const { ahead } = this.#lineSet
    if (ahead === undefined || fresh.length === 0) return new Map()
    return ahead.beginAll(fresh.map(({ number }) => number))
  }

  async #readRows(): Promise<void> {
    if (this.#isExhausted) return
    const { isPaidOnly = false, ofParts = null } = this.#lineSet
    this.#rows = await this.#queryable.query<LineRow>(
      `SELECT number, request_id IS NOT NULL AS was_asked, counted_nano_usd, tries, first_byte, bytes,
         part_id IS NOT NULL AS was_handed FROM batch_lines
       WHERE batch_id = $1 AND status = 'pending' AND number > $2
         AND (NOT $4 OR (request_id IS NOT NULL AND counted_nano_usd > 0))
         AND ($5::uuid[] IS NULL OR part_id = ANY ($5)) ORDER BY number LIMIT $3`,
      [this.#batchId, this.#after, ROWS_MAX, isPaidOnly, ofParts],
    )
    this.#after = this.#rows.at(-1)?.number ?? this.#after
    this.#isExhausted = this.#rows.length < ROWS_MAX
  }

  async #readPart(start: number, end: number): Promise<Buffer | null> {
    const source = await this.#open({ start, end: end - 1 })
    if (source === null) return null
    const pieces: Buffer[] = []
    for await (const piece of source) pieces.push(piece)
    return Buffer.concat(pieces)
  }
}

export function bytesOf({ content }: WaitingLine): number {
  return content?.length ?? 0
}

function endOf(row: LineRow | undefined): number {
  return row === undefined ? 0 : Number(row.first_byte) + row.bytes
}
