import { AppError } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'

/** Answers are in the database until the batch ends. Those of 50,000 lines may have 20 KiB each. */
const RESULT_BYTES_MAX = 1024 ** 3

/** How much the answers of one batch may take, so that cheap lines with long answers do not fill the disk. */
export class ResultRoom {
  readonly #bytesMax: number
  #bytes: number
  #awaitedBytes = 0

  constructor(storedBytes: number, bytesMax = RESULT_BYTES_MAX) {
    this.#bytes = storedBytes
    this.#bytesMax = bytesMax
  }

  get isFull(): boolean {
    return this.#bytes >= this.#bytesMax
  }

  /** Whether the answers that lines wait for may take all that is left. */
  get isTight(): boolean {
    return this.#awaitedBytes > 0 && this.#bytes + this.#awaitedBytes >= this.#bytesMax
  }

  /** A line waits for a vendor, whose answer will come whether there is room or not. */
  expect(bytes: number): void {
    this.#awaitedBytes += bytes
  }

  /** It does not wait any more. */
  forget(bytes: number): void {
    this.#awaitedBytes -= bytes
  }

  /** Counts an answer. Returns why no further line is asked, or null. */
  add(bytes: number): AppError | null {
    this.#bytes += bytes
    if (this.#bytes < this.#bytesMax) return null
    return new AppError(
      'request_too_large',
      'The answers of this batch take as much as those of one batch may. Ask the other lines in another batch.',
    )
  }
}

export async function readResultRoom(queryable: Queryable, batchId: string): Promise<ResultRoom> {
  const [row] = await queryable.query<{ bytes: bigint }>(
    'SELECT coalesce(sum(pg_column_size(result)), 0)::bigint AS bytes FROM batch_lines WHERE batch_id = $1',
    [batchId],
  )
  return new ResultRoom(Number(row?.bytes ?? 0))
}
