import type { Queryable } from '../../storage/database.ts'

interface ChainLimits {
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
  accountId: string,
  responseId: string,
  { lengthMax, bytesMax }: ChainLimits,
): Promise<Chain> {
  const rows = await queryable.query<ChainRow>(READ_CHAIN, [accountId, responseId, lengthMax, bytesMax])
  const [oldest] = rows
  return {
    links: rows.map((row) => ({
      id: row.id,
      previousId: row.previous_id,
      input: row.input,
      response: row.response,
    })),
    isBeyondLimits:
      oldest !== undefined &&
      (Number(oldest.bytes) > bytesMax || (oldest.depth === lengthMax && oldest.previous_id !== null)),
  }
}

interface ChainRow {
  readonly id: string
  readonly previous_id: string | null
  readonly depth: number
  readonly bytes: bigint
  readonly input: string
  readonly response: string
}

// Sizes are computed without reading the texts, so that at most the limit plus one response is read.
const READ_CHAIN = `
  WITH RECURSIVE chain AS (
    SELECT id, previous_id, 1 AS depth, response_bytes(input, response) AS bytes
    FROM responses WHERE account_id = $1 AND id = $2 AND expires_at > now()
    UNION ALL
    SELECT before.id, before.previous_id, chain.depth + 1,
      chain.bytes + response_bytes(before.input, before.response)
    FROM chain JOIN responses AS before ON before.account_id = $1 AND before.id = chain.previous_id
    WHERE chain.depth < $3 AND chain.bytes <= $4
  )
  SELECT chain.*, responses.input, responses.response
  FROM chain JOIN responses ON responses.account_id = $1 AND responses.id = chain.id
  ORDER BY chain.depth DESC`

export async function deleteResponse(
  queryable: Queryable,
  accountId: string,
  responseId: string,
): Promise<boolean> {
  const rows = await queryable.query(
    'DELETE FROM responses WHERE account_id = $1 AND id = $2 RETURNING 1 AS one',
    [accountId, responseId],
  )
  return rows.length > 0
}
