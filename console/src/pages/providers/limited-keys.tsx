import type { ProviderStatus } from '../../api/operator.ts'
import { formatCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Badge } from '../../ui/text/badge.tsx'

type LimitedKey = ProviderStatus['limited_keys'][number]

/** What the keys with limits took of them. */
export function LimitedKeys({ keys }: { readonly keys: readonly LimitedKey[] }) {
  return (
    <section className="flex flex-col gap-2 border-t border-line pt-4">
      <h3 className="text-sm font-medium">Limits of its keys</h3>
      <ul className="flex flex-col gap-2">
        {keys.map((key) => (
          <li key={key.id} className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
            <span className="font-mono text-xs">{nameOf(key)}</span>
            <span className="flex items-baseline gap-2 text-ink-soft">
              {describeUse(key)}
              {key.is_used_up && <Badge tone="warn">used up</Badge>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function nameOf({ id, ends_with: end, secret_ref: reference }: LimitedKey): string {
  return reference ?? (end === null ? id : `…${end}`)
}

function describeUse({
  requests_per_minute: requests,
  tokens_per_minute: tokens,
  budget_usd_per_day: budget,
}: LimitedKey): string {
  const parts = [
    requests && `${formatCount(requests.used)} of ${formatCount(requests.limit)} requests a minute`,
    tokens && `${formatCount(tokens.used)} of ${formatCount(tokens.limit)} tokens a minute`,
    budget && `${formatUsd(budget.used)} of ${formatUsd(budget.limit)} today`,
  ]
  return parts.filter((part) => part !== null).join(', ')
}
