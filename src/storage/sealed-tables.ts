/** A table with what is sealed with the gateway's key. */
interface SealedTable {
  readonly table: string
  /** Not null if the row has something sealed. */
  readonly columns: readonly string[]
  /** What such a row is without the key. If absent, it is deleted. */
  readonly without?: string
}

export const SEALED_TABLES: readonly SealedTable[] = [
  { table: 'deployment_tokens', columns: ['sealed'] },
  { table: 'model_prefetches', columns: ['sealed_token'], without: 'sealed_token = NULL' },
  { table: 'request_bodies', columns: ['request', 'answer'] },
  { table: 'webhook_secrets', columns: ['sealed_secret', 'sealed_previous_secret'] },
  { table: 'saved_chats', columns: ['name', 'content'] },
  { table: 'provider_credentials', columns: ['wrapped_key'] },
  {
    table: 'offered_providers',
    columns: ['wrapped_headers_key', 'wrapped_proxy_key'],
    without: `header_names = '{}', sealed_headers = NULL, wrapped_headers_key = NULL,
      sealed_proxy_password = NULL, wrapped_proxy_key = NULL`,
  },
  {
    table: 'receipt_keys',
    columns: ['sealed_private_key'],
    // Its public key is still needed. Receipts are signed with a new one.
    without: 'sealed_private_key = NULL, retired_at = coalesce(retired_at, now())',
  },
  {
    table: 'identity_providers',
    columns: ['client_secret'],
    // Without its secret nobody can sign in there until the operator enters it again.
    without: 'client_secret = NULL, is_enabled = false',
  },
]

/** An expression of SQL: whether anything in the database is sealed. */
export function anythingSealed(schema: string): string {
  return SEALED_TABLES.map(
    (sealed) => `EXISTS (SELECT 1 FROM ${schema}.${sealed.table} WHERE ${hasSealed(sealed)})`,
  ).join(' OR ')
}

/** Deletes all of it, and the mark of the key. Returns the number of rows as `count`. */
export function forgetAllSealed(): string {
  const forgotten = SEALED_TABLES.map((sealed) => {
    const { table, without } = sealed
    const change = without === undefined ? `DELETE FROM ${table}` : `UPDATE ${table} SET ${without}`
    return `of_${table} AS (${change} WHERE ${hasSealed(sealed)} RETURNING 1)`
  })
  const counts = SEALED_TABLES.map(({ table }) => `(SELECT count(*) FROM of_${table})`)
  return `
    WITH ${forgotten.join(', ')},
      offer AS (UPDATE offer_state SET version = version + 1),
      forgotten AS (UPDATE installation SET sealing_fingerprint = NULL)
    SELECT (${counts.join(' + ')})::int AS count`
}

function hasSealed({ columns }: SealedTable): string {
  return `(${columns.map((column) => `${column} IS NOT NULL`).join(' OR ')})`
}
