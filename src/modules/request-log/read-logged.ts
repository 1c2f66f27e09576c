import type { Queryable } from '../../storage/database.ts'
import { entryFromRow, type LogEntry, type LogRow } from './log-entry.ts'
import { CHARGED, FAILED } from './log-parts.ts'

/** A request and in which of its tables it is. */
export interface LoggedId {
  readonly accountId: string
  readonly id: string
  readonly isCharged: boolean
}

export interface LoggedRequest {
  readonly entry: LogEntry
  readonly isCharged: boolean
  readonly projectId: string | null
  readonly units: number
}

/** Reads these requests in their order. Null for one that the log does not have any more. */
export async function readLogged(
  queryable: Queryable,
  wanted: readonly LoggedId[],
): Promise<(LoggedRequest | null)[]> {
  const charged = await readPart(queryable, READ_CHARGED, wanted, true)
  const failed = await readPart(queryable, READ_FAILED, wanted, false)
  return wanted.map(
    ({ isCharged, accountId, id }) => (isCharged ? charged : failed).get(keyOf(accountId, id)) ?? null,
  )
}

interface LoggedRow extends LogRow {
  readonly project_id: string | null
  readonly units: bigint
}

async function readPart(
  queryable: Queryable,
  statement: string,
  wanted: readonly LoggedId[],
  isCharged: boolean,
): Promise<ReadonlyMap<string, LoggedRequest>> {
  const ofPart = wanted.filter((one) => one.isCharged === isCharged)
  if (ofPart.length === 0) return new Map()
  const rows = await queryable.query<LoggedRow>(statement, [
    ofPart.map(({ accountId }) => accountId),
    ofPart.map(({ id }) => id),
  ])
  return new Map(
    rows.map((row) => [
      keyOf(row.account_id, row.id),
      { entry: entryFromRow(row), isCharged, projectId: row.project_id, units: Number(row.units) },
    ]),
  )
}

function keyOf(accountId: string, id: string): string {
  return `${accountId}/${id}`
}

function readStatement({ table, columns }: typeof CHARGED, units: string): string {
  return `SELECT logged.*, api_keys.name AS key_name, api_keys.project_id, accounts.name AS account_name
    FROM (SELECT ${columns}, ${units} AS units
      FROM unnest($1::uuid[], $2::uuid[]) AS wanted (account_id, id) JOIN ${table} USING (account_id, id)) AS logged
    LEFT JOIN api_keys ON api_keys.id = logged.key_id
    LEFT JOIN accounts ON accounts.id = logged.account_id`
}

const READ_CHARGED = readStatement(CHARGED, 'units')
const READ_FAILED = readStatement(FAILED, '0::bigint')
