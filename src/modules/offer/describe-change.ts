import { formatUsd } from '../../kernel/money.ts'
import type { OfferedProvider, ProviderCredential } from './offered-provider.ts'

/** What a change does to a provider, for the audit log. Without secrets. */
export type ProviderDifference = Readonly<Record<string, unknown>>

/** Compares two states of a provider. Null stands for none. */
export function describeChange(
  before: OfferedProvider | null,
  after: OfferedProvider | null,
): ProviderDifference {
  const from = before === null ? {} : flatten(before)
  const to = after === null ? {} : flatten(after)
  const names = new Set([...Object.keys(from), ...Object.keys(to)])
  const difference: Record<string, unknown> = {}
  for (const name of names) {
    const [was, is] = [from[name] ?? null, to[name] ?? null]
    if (JSON.stringify(was) !== JSON.stringify(is)) difference[name] = { from: was, to: is }
  }
  return difference
}

function flatten(provider: OfferedProvider): Record<string, unknown> {
  return {
    vendor: provider.vendor,
    base_url: provider.baseUrl,
    wires: provider.wires,
    allow_members: provider.allowedMembers,
    headers: provider.headerNames,
    connect_ms: provider.timeouts.connectMs ?? null,
    first_byte_ms: provider.timeouts.firstByteMs ?? null,
    idle_ms: provider.timeouts.idleMs ?? null,
    proxy: describeProxy(provider),
    certificate_authority: provider.certificateAuthority,
    regions: provider.regions,
    retention_days: provider.retentionDays,
    is_enabled: provider.isEnabled,
    credentials: provider.credentials.map(describeCredential),
  }
}

function describeProxy({ proxy }: OfferedProvider) {
  if (proxy === null) return null
  const { url, username, hasPassword, passwordReference } = proxy
  return { url, username, has_password: hasPassword, password_ref: passwordReference }
}

function describeCredential({ id, lastFour, reference, weight, limits }: ProviderCredential) {
  const { requestsPerMinute, tokensPerMinute, budgetNanoUsdPerDay } = limits
  return {
    id,
    ends_with: lastFour,
    reference,
    weight,
    ...(requestsPerMinute !== null && { requests_per_minute: requestsPerMinute }),
    ...(tokensPerMinute !== null && { tokens_per_minute: tokensPerMinute }),
    ...(budgetNanoUsdPerDay !== null && { budget_usd_per_day: formatUsd(budgetNanoUsdPerDay) }),
  }
}
