import type { PromoCode } from '../../api/operator.ts'
import { Badge } from '../../ui/text/badge.tsx'

/** Whether a code can be redeemed, and if not, why. */
export function CodeState({ code }: { readonly code: PromoCode }) {
  const state = codeStateOf(code)
  return <Badge tone={TONES[state]}>{state}</Badge>
}

const TONES = { disabled: 'plain', expired: 'warn', 'used up': 'plain', active: 'good' } as const

export function codeStateOf(code: PromoCode): keyof typeof TONES {
  const { disabled_at: disabledAt, expires_at: expiresAt, redemptions, redemptions_max: most } = code
  if (disabledAt !== null) return 'disabled'
  if (hasPassed(expiresAt)) return 'expired'
  return most !== null && redemptions >= most ? 'used up' : 'active'
}

function hasPassed(at: string | null): boolean {
  return at !== null && Date.parse(at) <= Date.now()
}
