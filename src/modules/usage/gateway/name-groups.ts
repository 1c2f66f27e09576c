import { isUuid } from '../../../kernel/identifiers.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { GatewayDimension } from './gateway-query.ts'

/** What people call a group, and whose it is. */
export interface GroupName {
  readonly name: string
  /** Null for groups that belong to no account. */
  readonly account: { readonly id: string; readonly name: string } | null
}

interface NameRow {
  readonly value: string
  readonly name: string
  readonly account_id: string
  readonly account_name: string
}

const NAMES: Partial<Record<GatewayDimension, string>> = {
  account:
    'SELECT id::text AS value, name, id AS account_id, name AS account_name FROM accounts WHERE id = ANY ($1::uuid[])',
  project: `SELECT projects.id::text AS value, projects.name, accounts.id AS account_id, accounts.name AS account_name
    FROM projects JOIN accounts ON accounts.id = account_id WHERE projects.id = ANY ($1::uuid[])`,
  key: `SELECT api_keys.id::text AS value, api_keys.name, accounts.id AS account_id, accounts.name AS account_name
    FROM api_keys JOIN accounts ON accounts.id = account_id WHERE api_keys.id = ANY ($1::uuid[])`,
}

/** Returns the names of groups. Those that have no name but their value are absent. */
export async function nameGroups(
  queryable: Queryable,
  by: GatewayDimension,
  values: readonly string[],
): Promise<ReadonlyMap<string, GroupName>> {
  const statement = NAMES[by]
  if (statement === undefined) return new Map()
  const rows = await queryable.query<NameRow>(statement, [values.filter((value) => isUuid(value))])
  return new Map(
    rows.map((row) => [
      row.value,
      { name: row.name, account: { id: row.account_id, name: row.account_name } },
    ]),
  )
}
