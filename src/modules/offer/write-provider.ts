import { AppError } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'
import type { StoredCredential, StoredProvider } from './offered-provider.ts'

/** Far more than there are vendors. Every process holds all of them. */
const PROVIDERS_MAX = 500

/** Takes the next version of the offer. Other changes wait until this transaction ends. */
export async function takeVersion(transaction: Queryable): Promise<bigint> {
  const [row] = await transaction.query<{ version: bigint }>(
    'UPDATE offer_state SET version = version + 1 RETURNING version',
  )
  if (row === undefined) throw new Error('the offer has no state')
  return row.version
}

export async function insertProvider(transaction: Queryable, provider: StoredProvider): Promise<bigint> {
  const version = await takeVersion(transaction)
  const [count] = await transaction.query<{ count: bigint }>(
    'SELECT count(*) AS count FROM offered_providers',
  )
  if (Number(count?.count ?? 0) >= PROVIDERS_MAX)
    throw new AppError('conflict', `There are already ${PROVIDERS_MAX} providers.`)
  const rows = await transaction.query(
    `INSERT INTO offered_providers (${COLUMNS.join(', ')})
     VALUES (${COLUMNS.map((_, index) => `$${index + 1}`).join(', ')})
     ON CONFLICT (name) DO NOTHING RETURNING 1`,
    valuesOf(provider, version),
  )
  if (rows.length === 0) throw new AppError('conflict', `There is already a provider '${provider.name}'.`)
  await writeCredentials(transaction, provider)
  return version
}

/** Changes a provider that is still in the version that the change began with. */
export async function updateProvider(transaction: Queryable, provider: StoredProvider): Promise<bigint> {
  const version = await takeVersion(transaction)
  const [, ...changeable] = COLUMNS
  const rows = await transaction.query(
    `UPDATE offered_providers SET ${changeable.map((column, index) => `${column} = $${index + 2}`).join(', ')}
     WHERE name = $1 AND version = $${COLUMNS.length + 1} RETURNING 1`,
    [...valuesOf(provider, version), provider.version],
  )
  if (rows.length === 0) throw changedMeanwhile()
  await writeCredentials(transaction, provider)
  return version
}

export async function deleteProvider(
  transaction: Queryable,
  { name, version: known }: StoredProvider,
): Promise<bigint> {
  const version = await takeVersion(transaction)
  const rows = await transaction.query(
    'DELETE FROM offered_providers WHERE name = $1 AND version = $2 RETURNING 1',
    [name, known],
  )
  if (rows.length === 0) throw changedMeanwhile()
  return version
}

const COLUMNS = [
  'name',
  'vendor',
  'base_url',
  'wires',
  'allowed_members',
  'header_names',
  'sealed_headers',
  'wrapped_headers_key',
  'connect_ms',
  'first_byte_ms',
  'idle_ms',
  'proxy_url',
  'proxy_username',
  'sealed_proxy_password',
  'wrapped_proxy_key',
  'proxy_password_reference',
  'certificate_authority',
  'regions',
  'retention_days',
  'is_enabled',
  'version',
  'created_at',
  'updated_at',
] as const

function valuesOf(provider: StoredProvider, version: bigint): unknown[] {
  const { sealedHeaders, timeouts, proxy } = provider
  return [
    provider.name,
    provider.vendor,
    provider.baseUrl,
    provider.wires,
    provider.allowedMembers,
    provider.headerNames,
    sealedHeaders?.sealed ?? null,
    sealedHeaders?.wrappedKey ?? null,
    timeouts.connectMs ?? null,
    timeouts.firstByteMs ?? null,
    timeouts.idleMs ?? null,
    proxy?.url ?? null,
    proxy?.username ?? null,
    proxy?.sealedPassword?.sealed ?? null,
    proxy?.sealedPassword?.wrappedKey ?? null,
    proxy?.passwordReference ?? null,
    provider.certificateAuthority,
    provider.regions,
    provider.retentionDays,
    provider.isEnabled,
    version,
    new Date(provider.createdAtMs),
    new Date(provider.updatedAtMs),
  ]
}

async function writeCredentials(
  transaction: Queryable,
  { name, credentials }: StoredProvider,
): Promise<void> {
  await transaction.query('DELETE FROM provider_credentials WHERE provider = $1 AND id <> ALL($2)', [
    name,
    credentials.map(({ id }) => id),
  ])
  for (const [position, credential] of credentials.entries())
    await writeCredential(transaction, name, credential, position)
}

async function writeCredential(
  transaction: Queryable,
  provider: string,
  { id, sealed, lastFour, reference, weight, limits, createdAtMs }: StoredCredential,
  position: number,
): Promise<void> {
  await transaction.query(
    `INSERT INTO provider_credentials
       (id, provider, sealed, wrapped_key, last_four, reference, weight, position, created_at,
        requests_per_minute, tokens_per_minute, budget_nano_per_day)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     ON CONFLICT (id) DO UPDATE SET weight = excluded.weight, position = excluded.position,
       requests_per_minute = excluded.requests_per_minute, tokens_per_minute = excluded.tokens_per_minute,
       budget_nano_per_day = excluded.budget_nano_per_day`,
    [
      id,
      provider,
      sealed?.sealed ?? null,
      sealed?.wrappedKey ?? null,
      lastFour,
      reference,
      weight,
      position,
      new Date(createdAtMs),
      limits.requestsPerMinute,
      limits.tokensPerMinute,
      limits.budgetNanoUsdPerDay,
    ],
  )
}

function changedMeanwhile(): AppError {
  return new AppError('conflict', 'This provider was changed or removed meanwhile. Read it again.')
}
