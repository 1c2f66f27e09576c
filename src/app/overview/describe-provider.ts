import type { ProviderStatus } from '../../http/routes/operator/provider-answer.ts'
import { keyLimitsToWire } from '../../http/routes/operator/key-limit-forms.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import type { OfferedProvider, SecretProblem } from '../../modules/offer/offer.ts'
import type { CatalogModel, ModelRoute } from '../../modules/catalog/catalog.ts'
import type { ProviderSettings } from '../../providers/create-provider.ts'
import type { Provider } from '../../providers/provider.ts'
import { addressOf, vendorOf } from '../../providers/vendors.ts'
import { DURATION_SECONDS } from '../../telemetry/metrics.ts'
import { percentileOf } from '../../telemetry/percentile-of.ts'
import { addCounts } from '../../telemetry/process-figures.ts'
import { missingSettingsOf } from '../settings/provider-settings.ts'
import type { ProcessReport } from './process-report.ts'
import { WINDOW_SECONDS } from './recent-providers.ts'

export interface ModelOfProvider {
  readonly model: CatalogModel
  readonly route: ModelRoute
}

interface KnownProvider {
  readonly id: string
  /** Undefined if it is not configured. */
  readonly provider: Provider | undefined
  /** Those of the environment or the configuration file. */
  readonly settings: ProviderSettings | undefined
  /** As it is stored, if operators added it. */
  readonly offered: OfferedProvider | undefined
  /** Its secrets that cannot be read. */
  readonly problems: readonly SecretProblem[]
  readonly models: readonly ModelOfProvider[]
  /** The latest of every process. */
  readonly reports: readonly ProcessReport[]
  readonly limitedKeys: ProviderStatus['limited_keys']
}

/** Describes a provider for operators. The keys themselves are not part of it. */
export function describeProvider(known: KnownProvider): ProviderStatus {
  const { id, provider, settings, offered, models, reports } = known
  const isConfigured = provider?.isConfigured === true
  const vendor = offered === undefined ? vendorOf(id)?.id : (offered.vendor ?? undefined)
  const ownAddress = settings?.baseUrl ?? offered?.baseUrl ?? null
  return {
    id,
    object: 'provider',
    is_configured: isConfigured,
    missing: isConfigured || offered !== undefined ? [] : missingSettingsOf(id),
    base_url_host: hostOf(ownAddress ?? commonAddressOf(vendor ?? id)),
    keys: settings?.apiKeys.length ?? offered?.credentials.length ?? 0,
    vendor: vendor ?? null,
    ...describeOffered(known),
    operations: isConfigured ? OPERATIONS.filter((name) => provider[name] !== undefined) : [],
    models: models.map(({ model, route }) => ({
      model: model.id,
      upstream_model: route.model,
      category: model.category,
      priority: route.priority,
      weight: route.weight,
      price_file: model.priceFile ?? 'built-in',
      breaker: breakerOf(reports, id, route.model),
    })),
    limited_keys: known.limitedKeys,
    recent: describeRecent(reports, id),
  }
}

const NOT_OFFERED = {
  is_enabled: true,
  base_url: null,
  wires: null,
  allow_members: [],
  headers: [],
  timeouts: { connect_ms: null, first_byte_ms: null, idle_ms: null },
  proxy: null,
  certificate_authority: null,
  regions: [],
  retention_days: null,
  credentials: [],
  problem: null,
  created_at: null,
  updated_at: null,
}
const HIDDEN =
  'A provider of this name is stored, and not used: the environment or the configuration file of the gateway has one too.'

type Stored = Pick<ProviderStatus, keyof typeof NOT_OFFERED | 'source'>

function describeOffered({ settings, offered, problems }: KnownProvider): Stored {
  if (settings !== undefined)
    return { ...NOT_OFFERED, source: 'file', problem: offered === undefined ? null : HIDDEN }
  if (offered === undefined) return { ...NOT_OFFERED, source: null }
  const { timeouts } = offered
  const ofKeys = problems.filter(({ of }) => of === 'credential')
  const [other] = problems.filter(({ of }) => of !== 'credential')
  const isUnreadable = ofKeys.length > 0 && ofKeys.length >= offered.credentials.length
  return {
    source: 'database',
    is_enabled: offered.isEnabled,
    base_url: offered.baseUrl,
    wires: offered.wires === null ? null : [...offered.wires],
    allow_members: [...offered.allowedMembers],
    headers: [...offered.headerNames],
    timeouts: {
      connect_ms: timeouts.connectMs ?? null,
      first_byte_ms: timeouts.firstByteMs ?? null,
      idle_ms: timeouts.idleMs ?? null,
    },
    proxy: describeProxy(offered),
    certificate_authority: offered.certificateAuthority,
    regions: [...offered.regions],
    retention_days: offered.retentionDays,
    credentials: offered.credentials.map(({ id, lastFour, reference, weight, limits, createdAtMs }) => ({
      id,
      ends_with: lastFour,
      secret_ref: reference,
      weight,
      ...keyLimitsToWire(limits),
      problem: problems.find(({ credentialId }) => credentialId === id)?.problem ?? null,
      created_at: toTimestamp(createdAtMs),
    })),
    problem:
      other !== undefined
        ? `${UNREADABLE[other.of]} cannot be read: ${other.problem}.`
        : isUnreadable
          ? 'None of its keys can be read.'
          : null,
    created_at: toTimestamp(offered.createdAtMs),
    updated_at: toTimestamp(offered.updatedAtMs),
  }
}

const UNREADABLE: Readonly<Record<SecretProblem['of'], string>> = {
  credential: 'Its key',
  headers: 'Its headers',
  proxy: 'The password of its proxy',
  certificate_authority: 'Its certificate authority',
}

function describeProxy({ proxy }: OfferedProvider): Stored['proxy'] {
  if (proxy === null) return null
  const { url, username, hasPassword, passwordReference } = proxy
  return { url, username, has_password: hasPassword, password_ref: passwordReference }
}

const OPERATIONS = [
  'chat',
  'completion',
  'embedding',
  'rerank',
  'moderation',
  'image',
  'upscale',
  'backgroundRemoval',
  'video',
  'music',
  'speech',
  'transcription',
] as const

function commonAddressOf(vendorId: string): string | null {
  const vendor = vendorOf(vendorId)
  return vendor === undefined ? null : addressOf(vendor).common
}

function hostOf(url: string | null): string | null {
  return url === null ? null : new URL(url).host
}

const STATES = ['closed', 'half-open', 'open'] as const

function breakerOf(
  reports: readonly ProcessReport[],
  provider: string,
  upstreamModel: string,
): ProviderStatus['models'][number]['breaker'] {
  const found = reports
    .flatMap(({ breakers }) => breakers)
    .filter((breaker) => breaker.provider === provider && breaker.model === upstreamModel)
  const worst = Math.max(0, ...found.map(({ state }) => STATES.indexOf(state)))
  return { state: STATES[worst] ?? 'closed', accounts: Math.max(0, ...found.map(({ accounts }) => accounts)) }
}

/** Adds up what all processes did at a provider in the last minutes. */
export function describeRecent(reports: readonly ProcessReport[], name: string): ProviderStatus['recent'] {
  const parts = reports.flatMap(({ providers }) => providers.filter((part) => part.name === name))
  const requests = parts.reduce((sum, { attempts }) => sum + attempts, 0)
  const errors = parts.reduce((sum, { failures }) => sum + failures, 0)
  const durations = addCounts(parts.map((part) => part.durations))
  return {
    window_seconds: WINDOW_SECONDS,
    requests,
    errors,
    error_share: requests === 0 ? null : errors / requests,
    latency_ms: { p50: milliseconds(durations, 0.5), p95: milliseconds(durations, 0.95) },
  }
}

/** A percentile of request durations. */
export function milliseconds(durations: readonly number[], share: number): number | null {
  const seconds = percentileOf(durations, DURATION_SECONDS, share)
  return seconds === null ? null : Math.round(seconds * 10_000) / 10
}
