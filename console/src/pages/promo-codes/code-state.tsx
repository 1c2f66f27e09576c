import type { PromoCode } from '../../api/operator.ts'
import { Badge } from '../../ui/text/badge.tsx'

/** Whether a code can be redeemed, and if not, why. */
export function CodeState({ code }: { readonly code: PromoCode }) {
  const { disabled_at: disabledAt, expires_at: expiresAt, redemptions, redemptions_max: most } = code
  if (disabledAt !== null) return <Badge tone="plain">disabled</Badge>
  if (hasPassed(expiresAt)) return <Badge tone="warn">expired</Badge>
  if (most !== null && redemptions >= most) return <Badge tone="plain">used up</Badge>
  return <Badge tone="good">active</Badge>
}

function hasPassed(at: string | null): boolean {
  return at !== null && Date.parse(at) <= Date.now()
}
