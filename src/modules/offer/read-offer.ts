import { isNativeWire } from '../../providers/native-wire.ts'
import type { Queryable } from '../../storage/database.ts'
import type { OfferedAdjustment } from './adjustments/offered-adjustment.ts'
import { ADJUSTMENTS_AS_JSON, toAdjustment, type AdjustmentJson } from './adjustments/read-adjustments.ts'
import type { OfferedModel, OfferedPrice } from './models/offered-model.ts'
import {
  MODELS_AS_JSON,
  PRICES_AS_JSON,
  toModel,
  toPrice,
  type ModelJson,
  type PriceJson,
} from './models/read-models.ts'
import type { StoredCredential, StoredProvider, StoredProxy } from './offered-provider.ts'

/** Everything that is offered, as one state of the database. */
export interface StoredOffer {
  readonly version: bigint
  readonly providers: readonly StoredProvider[]
  readonly models: readonly OfferedModel[]
  /** Those that can still be charged, by their moments. */
  readonly prices: readonly OfferedPrice[]
  /** Those that can still apply, in the order in which they were added. */
  readonly adjustments: readonly OfferedAdjustment[]
}

/** As JSON, so that one statement reads one state of all tables. */
interface ProviderJson {
  readonly name: string
  readonly vendor: string | null
  readonly base_url: string | null
  readonly wires: readonly string[] | null
  readonly allowed_members: readonly string[]
  readonly header_names: readonly string[]
  readonly sealed_headers: string | null
  readonly wrapped_headers_key: string | null
  readonly connect_ms: number | null
  readonly first_byte_ms: number | null
  readonly idle_ms: number | null
  readonly proxy_url: string | null
  readonly proxy_username: string | null
  readonly sealed_proxy_password: string | null
  readonly wrapped_proxy_key: string | null
  readonly proxy_password_reference: string | null
  readonly certificate_authority: string | null
  readonly regions: readonly string[]
  readonly retention_days: number | null
  readonly is_enabled: boolean
  readonly version: string
  readonly created_ms: number
  readonly updated_ms: number
  readonly credentials: readonly CredentialJson[]
}

interface CredentialJson {
  readonly id: string
  readonly sealed: string | null
  readonly wrapped_key: string | null
  readonly last_four: string | null
  readonly reference: string | null
  readonly weight: number
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  /** As text, because it may be more than a number in JSON can say. */
  readonly budget_nano_per_day: string | null
  readonly created_ms: number
}

export async function readOfferVersion(queryable: Queryable): Promise<bigint> {
  const [row] = await queryable.query<{ version: bigint }>('SELECT version FROM offer_state')
  return row?.version ?? 0n
}

export async function readOffer(queryable: Queryable): Promise<StoredOffer> {
  const [row] = await queryable.query<OfferRow>(READ)
  return {
    version: row?.version ?? 0n,
    providers: (row?.providers ?? []).map(toProvider),
    models: (row?.models ?? []).map(toModel),
    prices: (row?.prices ?? []).map(toPrice),
    adjustments: (row?.adjustments ?? []).map(toAdjustment),
  }
}

interface OfferRow {
  readonly version: bigint
  readonly providers: readonly ProviderJson[]
  readonly models: readonly ModelJson[] | null
  readonly prices: readonly PriceJson[] | null
  readonly adjustments: readonly AdjustmentJson[] | null
}

const READ = `
  SELECT version, coalesce((
    SELECT jsonb_agg(jsonb_build_object(
      'name', name, 'vendor', vendor, 'base_url', base_url, 'wires', wires,
      'allowed_members', allowed_members, 'header_names', header_names,
      'sealed_headers', encode(sealed_headers, 'base64'),
      'wrapped_headers_key', encode(wrapped_headers_key, 'base64'),
      'connect_ms', connect_ms, 'first_byte_ms', first_byte_ms, 'idle_ms', idle_ms,
      'proxy_url', proxy_url, 'proxy_username', proxy_username,
      'sealed_proxy_password', encode(sealed_proxy_password, 'base64'),
      'wrapped_proxy_key', encode(wrapped_proxy_key, 'base64'),
      'proxy_password_reference', proxy_password_reference,
      'certificate_authority', certificate_authority, 'regions', regions, 'retention_days', retention_days,
      'is_enabled', is_enabled, 'version', p.version::text,
      'created_ms', floor(extract(epoch FROM p.created_at) * 1000),
      'updated_ms', floor(extract(epoch FROM p.updated_at) * 1000),
      'credentials', coalesce((
        SELECT jsonb_agg(jsonb_build_object(
          'id', c.id, 'sealed', encode(c.sealed, 'base64'), 'wrapped_key', encode(c.wrapped_key, 'base64'),
          'last_four', c.last_four, 'reference', c.reference, 'weight', c.weight,
          'requests_per_minute', c.requests_per_minute, 'tokens_per_minute', c.tokens_per_minute,
          'budget_nano_per_day', c.budget_nano_per_day::text,
          'created_ms', floor(extract(epoch FROM c.created_at) * 1000)
        ) ORDER BY c.position, c.id)
        FROM provider_credentials c WHERE c.provider = p.name), '[]')
    ) ORDER BY p.created_at, p.name)
    FROM offered_providers p), '[]') AS providers, ${MODELS_AS_JSON} AS models, ${PRICES_AS_JSON} AS prices,
    ${ADJUSTMENTS_AS_JSON} AS adjustments
  FROM offer_state`

function toProvider(row: ProviderJson): StoredProvider {
  return {
    name: row.name,
    vendor: row.vendor,
    baseUrl: row.base_url,
    wires: row.wires?.filter(isNativeWire) ?? null,
    allowedMembers: row.allowed_members,
    headerNames: row.header_names,
    sealedHeaders: sealedOf(row.sealed_headers, row.wrapped_headers_key),
    timeouts: {
      ...(row.connect_ms === null ? {} : { connectMs: row.connect_ms }),
      ...(row.first_byte_ms === null ? {} : { firstByteMs: row.first_byte_ms }),
      ...(row.idle_ms === null ? {} : { idleMs: row.idle_ms }),
    },
    proxy: toProxy(row),
    certificateAuthority: row.certificate_authority,
    regions: row.regions,
    retentionDays: row.retention_days,
    isEnabled: row.is_enabled,
    credentials: row.credentials.map(toCredential),
    version: BigInt(row.version),
    createdAtMs: row.created_ms,
    updatedAtMs: row.updated_ms,
  }
}

function toProxy(row: ProviderJson): StoredProxy | null {
  if (row.proxy_url === null) return null
  const sealedPassword = sealedOf(row.sealed_proxy_password, row.wrapped_proxy_key)
  return {
    url: row.proxy_url,
    username: row.proxy_username,
    hasPassword: sealedPassword !== null || row.proxy_password_reference !== null,
    passwordReference: row.proxy_password_reference,
    sealedPassword,
  }
}

function toCredential(row: CredentialJson): StoredCredential {
  return {
    id: row.id,
    sealed: sealedOf(row.sealed, row.wrapped_key),
    lastFour: row.last_four,
    reference: row.reference,
    weight: row.weight,
    limits: {
      requestsPerMinute: row.requests_per_minute,
      tokensPerMinute: row.tokens_per_minute,
      budgetNanoUsdPerDay: row.budget_nano_per_day === null ? null : BigInt(row.budget_nano_per_day),
    },
    createdAtMs: row.created_ms,
  }
}

function sealedOf(sealed: string | null, wrappedKey: string | null): StoredCredential['sealed'] {
  if (sealed === null || wrappedKey === null) return null
  return { sealed: Buffer.from(sealed, 'base64'), wrappedKey: Buffer.from(wrappedKey, 'base64') }
}
