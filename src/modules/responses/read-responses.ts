import type { Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'

interface ChainLimits {
  /** Called with the size before the texts are read. Throws to refuse it. */
  readonly countRead?: ((bytes: number) => void) | undefined
  readonly lengthMax: number
  readonly bytesMax: number
}

export interface ChainLink {
  readonly id: string
  readonly previousId: string | null
  readonly input: string
  readonly response: string
}

/** A response and its predecessors, oldest first. */
export interface Chain {
  readonly links: readonly ChainLink[]
  /** Whether the chain is longer or larger than the limits, so that not all of it was read. */
  readonly isBeyondLimits: boolean
}

/**
 * Returns an empty chain if the last response is unknown. Its predecessors are kept past their expiry while a response continues
 * them.
 */
export async function readChain(
  queryable: Queryable,
  place: Place,
  responseId: string,
  { lengthMax, bytesMax, countRead }: ChainLimits,
): Promise<Chain> {
  const rows = await queryable.query<ChainRow>(readChainWithin(place), [
    idsOf(place),
    responseId,
    lengthMax,
    bytesMax,
  ])
  const [oldest] = rows
  countRead?.(Number(oldest?.bytes ?? 0))
  const links: ChainLink[] = []
  for (const piece of splitChain(rows)) {
    const ids = piece.map(({ id }) => id)
    const texts = await queryable.query<TextRow>(readTextsWithin(place), [idsOf(place), ids])
    const textsOf = new Map(texts.map((row) => [row.id, row]))
    for (const { id, previous_id: previousId } of piece) {
      const found = textsOf.get(id)
      // It was deleted meanwhile.
      if (found === undefined) return { links: [], isBeyondLimits: false }
      links.push({ id, previousId, input: found.input, response: found.response })
    }
  }
  return {
    links,
    isBeyondLimits:
      oldest !== undefined &&
      (Number(oldest.bytes) > bytesMax || (oldest.depth === lengthMax && oldest.previous_id !== null)),
  }
}

interface ChainRow {
  readonly id: string
  readonly previous_id: string | null
  readonly depth: number
  /** Of this response and all after it. */
  readonly bytes: bigint
}

interface TextRow {
  readonly id: string
  readonly input: string
  readonly response: string
}

/** Texts that are read by one query, so that none holds its connection for long. */
const PIECE_BYTES_MAX = 4n * 1024n * 1024n

/** Splits a chain, oldest first, into pieces of limited size, or of one response that is larger. */
function splitChain(rows: readonly ChainRow[]): ChainRow[][] {
  const pieces: ChainRow[][] = []
  let startBytes = 0n
  for (const row of rows) {
    const piece = pieces.at(-1)
    // Sizes are sums from the end of the chain.
    const fits = startBytes - row.bytes < PIECE_BYTES_MAX
    if (piece !== undefined && fits) piece.push(row)
    else {
      pieces.push([row])
      startBytes = row.bytes
    }
  }
  return pieces
}

// Sizes are computed without reading the texts, so that at most the limit plus one response is read.
const readChainWithin = (place: Place): string => `
  WITH RECURSIVE chain AS (
    SELECT id, previous_id, 1 AS depth, response_bytes(input, response) AS bytes
    FROM responses WHERE ${isWithin(place, '$1')} AND id = $2 AND expires_at > now()
    UNION ALL
    SELECT before.id, before.previous_id, chain.depth + 1,
      chain.bytes + response_bytes(before.input, before.response)
    FROM chain JOIN responses AS before ON ${isWithin(place, '$1', 'before')} AND before.id = chain.previous_id
    WHERE chain.depth < $3 AND chain.bytes <= $4
  )
  SELECT * FROM chain ORDER BY depth DESC`

const readTextsWithin = (place: Place): string =>
  `SELECT id, input, response FROM responses WHERE ${isWithin(place, '$1')} AND id = ANY ($2::text[])`

/** Selects the task of a row of `responses` that was cancelled and is not charged yet. Its events are needed for that. */
export const IS_LEFT = `SELECT FROM tasks WHERE tasks.account_id = responses.account_id
  AND tasks.request_id = 'req_' || substr(responses.id, 6) AND leaving_worker_id IS NOT NULL`

/** Deletes a response. One that is not charged yet is only hidden, until the sweep finds that it is. */
export async function deleteResponse(
  queryable: Queryable,
  place: Place,
  responseId: string,
): Promise<boolean> {
  const isMeant = `${isWithin(place, '$1')} AND id = $2`
  const rows = await queryable.query(
    `WITH hidden AS (
       UPDATE responses SET expires_at = now() WHERE ${isMeant} AND EXISTS (${IS_LEFT}) RETURNING 1 AS one
     ), deleted AS (
       DELETE FROM responses WHERE ${isMeant} AND NOT EXISTS (${IS_LEFT}) RETURNING 1 AS one
     )
     SELECT one FROM hidden UNION ALL SELECT one FROM deleted`,
    [idsOf(place), responseId],
  )
  return rows.length > 0
}
