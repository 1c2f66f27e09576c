import type { ProviderStatus } from '../../http/routes/operator/provider-answer.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../kernel/money.ts'
import type { Limits } from '../../modules/limits/limits.ts'
import type { OfferedProvider } from '../../modules/offer/offer.ts'
import { hasLimits, type KeyLimits } from '../../providers/connection/key-limits.ts'
import type { ProviderSettings } from '../../providers/create-provider.ts'
import type { ProcessReport } from './process-report.ts'

/** A key with limits, without its secret. */
interface KnownKey {
  /** By which it is counted. */
  readonly id: string
  readonly endsWith: string | null
  readonly reference: string | null
  readonly limits: KeyLimits
}

/** Lists the keys of a provider that have limits: those of the configuration, or those that operators added. */
export function listLimitedKeys(
  settings: ProviderSettings | undefined,
  offered: OfferedProvider | undefined,
): readonly KnownKey[] {
  if (settings !== undefined)
    return (settings.keyLimits ?? []).flatMap((limits) =>
      limits === null ? [] : [{ id: limits.id, endsWith: null, reference: null, limits }],
    )
  return (offered?.credentials ?? []).flatMap(({ id, lastFour, reference, limits }) =>
    hasLimits(limits) ? [{ id, endsWith: lastFour, reference, limits }] : [],
  )
}

/** Returns what was spent today with the keys that have a budget. */
export async function readSpent(
  keys: readonly KnownKey[],
  { providerKeys }: Pick<Limits, 'providerKeys'>,
): Promise<ReadonlyMap<string, NanoUsd>> {
  const withBudget = keys.filter(({ limits }) => limits.budgetNanoUsdPerDay !== null)
  return providerKeys.readSpent(withBudget.map(({ id }) => id))
}

export function describeKeyLimits(
  keys: readonly KnownKey[],
  {
    reports,
    spent,
  }: { readonly reports: readonly ProcessReport[]; readonly spent: ReadonlyMap<string, NanoUsd> },
): ProviderStatus['limited_keys'] {
  const recent = reports.flatMap((report) => report.keys ?? [])
  return keys.map(({ id, endsWith, reference, limits }) => {
    const uses = recent.filter((use) => use.id === id)
    const { requestsPerMinute, tokensPerMinute, budgetNanoUsdPerDay } = limits
    const requests = uses.reduce((sum, use) => sum + use.requests, 0)
    const tokens = uses.reduce((sum, use) => sum + use.tokens, 0)
    const spentNanoUsd = spent.get(id) ?? 0n
    return {
      id,
      ends_with: endsWith,
      secret_ref: reference,
      requests_per_minute: requestsPerMinute === null ? null : { limit: requestsPerMinute, used: requests },
      tokens_per_minute: tokensPerMinute === null ? null : { limit: tokensPerMinute, used: tokens },
      budget_usd_per_day:
        budgetNanoUsdPerDay === null
          ? null
          : { limit: usdFromNanoUsd(budgetNanoUsdPerDay), used: usdFromNanoUsd(spentNanoUsd) },
      is_used_up:
        (requestsPerMinute !== null && requests >= requestsPerMinute) ||
        (tokensPerMinute !== null && tokens >= tokensPerMinute) ||
        (budgetNanoUsdPerDay !== null && spentNanoUsd >= budgetNanoUsdPerDay),
    }
  })
}
