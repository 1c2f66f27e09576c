import { Batches } from '../../kernel/batches.ts'
import type { Database } from '../../storage/database.ts'
import type { Place } from '../../storage/place.ts'

interface ResponseWriterOptions {
  readonly database: Database
  readonly retentionMs: number
}

const BATCH_MAX = 50
/** Larger responses are written alone, to keep statements small. */
const BATCHED_BYTES_MAX = 256 * 1024

/**
 * Writes responses that have been answered and charged. Responses that end during a write are batched into the next one. The
 * commit does not wait for the disk: other processes see the response at once, and if a crash of the database server loses it, it
 * was already delivered.
 */
export class ResponseWriter {
  readonly #options: ResponseWriterOptions
  readonly #batches = new Batches<StoredResponse, number>((batch) => this.#write(batch, 'off'), BATCH_MAX)

  constructor(options: ResponseWriterOptions) {
    this.#options = options
  }

  /** Returns how many bytes the account then has stored. */
  async write(response: StoredResponse): Promise<number> {
    if (sizeOf(response) <= BATCHED_BYTES_MAX) return this.#batches.add(response)
    const [storedBytes = 0] = await this.#write([response], 'off')
    return storedBytes
  }

  /** Waits for the disk, for a response that is only requested so far and must not be lost. */
  async writeDurably(response: StoredResponse): Promise<void> {
    await this.#write([response], 'on')
  }

  async #write(batch: readonly StoredResponse[], durability: 'on' | 'off'): Promise<number[]> {
    const { database, retentionMs } = this.#options
    const rows = await database.query<{ account_id: string; bytes: bigint }>(WRITE, [
      batch.map(({ place }) => place.accountId),
      batch.map(({ id }) => id),
      batch.map(({ previousId }) => previousId),
      batch.map(({ input }) => input),
      batch.map(({ response }) => response),
      batch.map(({ itemIds }) => itemIds.join(',')),
      batch.map(({ isBackground }) => isBackground),
      retentionMs,
      durability,
      batch.map(({ place }) => place.projectId),
    ])
    const storedBefore = new Map(rows.map((row) => [row.account_id, Number(row.bytes)]))
    return batch.map(({ place: { accountId } }) => {
      const own = batch.filter((one) => one.place.accountId === accountId)
      return own.reduce((bytes, one) => bytes + sizeOf(one), storedBefore.get(accountId) ?? 0)
    })
  }
}

// A repeated request with the same id replaces its response, unless a task makes the response: that one is the same for all
// tries. The returned bytes are those before this statement.
const WRITE = `
  WITH durability AS MATERIALIZED (SELECT set_config('synchronous_commit', $9, true)),
  written AS (
    INSERT INTO responses (account_id, project_id, id, previous_id, input, response, item_ids, is_background, expires_at)
    SELECT given.account_id, given.project_id, given.id, given.previous_id, given.input, given.response,
      string_to_array(given.item_ids, ','), given.is_background, now() + $8 * interval '1 millisecond'
    FROM durability, unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[],
        $10::uuid[])
      AS given (account_id, id, previous_id, input, response, item_ids, is_background, project_id)
    ON CONFLICT (account_id, id) DO UPDATE
      SET input = excluded.input, response = excluded.response, item_ids = excluded.item_ids
      WHERE NOT responses.is_background AND responses.project_id IS NOT DISTINCT FROM excluded.project_id
  )
  SELECT account_id, stored_bytes_of(account_id, 'response') AS bytes
  FROM (SELECT DISTINCT unnest($1::uuid[]) AS account_id) AS accounts`

/** A response in the store. */
interface StoredResponse {
  readonly place: Place
  /** `resp_…` */
  readonly id: string
  /** The response that it continues. */
  readonly previousId: string | null
  /** JSON: the new input, a text or items. */
  readonly input: string
  /** JSON: the response object. */
  readonly response: string
  /** Ids of its output items. */
  readonly itemIds: readonly string[]
  readonly isBackground: boolean
}

/** Returns the size in UTF-8, as the database counts it. */
function sizeOf({ input, response }: Pick<StoredResponse, 'input' | 'response'>): number {
  return Buffer.byteLength(input) + Buffer.byteLength(response)
}
