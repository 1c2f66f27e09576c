import type { Queryable } from '../../../storage/database.ts'
import { gatewayConditions, type GatewayQuery } from './gateway-query.ts'
import { errorsOf, errorsWithin } from './count-errors.ts'

/** Requests that ended the same way with the same code. */
export interface ErrorKind {
  readonly outcome: string
  readonly httpStatus: number
  /** Empty if there was none. */
  readonly errorCode: string
  readonly requests: number
}

const KINDS_MAX = 20

/** Returns the most frequent kinds of errors. */
export async function countErrorKinds(queryable: Queryable, query: GatewayQuery): Promise<ErrorKind[]> {
  const values: unknown[] = []
  const bind = (value: unknown): string => `$${values.push(value)}`
  const rows = await queryable.query<{
    outcome: string
    http_status: number
    error_code: string
    requests: bigint
  }>(
    `SELECT outcome, http_status, error_code, sum(requests)::bigint AS requests FROM ${errorsOf(query, bind)} AS rows
     WHERE ${errorsWithin(query.range, bind)}${gatewayConditions(query, bind)}
     GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3 LIMIT ${KINDS_MAX}`,
    values,
  )
  return rows.map((row) => ({
    outcome: row.outcome,
    httpStatus: row.http_status,
    errorCode: row.error_code,
    requests: Number(row.requests),
  }))
}
