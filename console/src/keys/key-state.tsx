import type { ApiKey } from '../api/keys.ts'
import { Badge } from '../ui/text/badge.tsx'

export function KeyState({ apiKey }: { readonly apiKey: ApiKey }) {
  if (apiKey.is_active) return <Badge tone="good">active</Badge>
  const isExpired = hasPassed(apiKey.expires_at)
  return <Badge tone={isExpired ? 'warn' : 'plain'}>{isExpired ? 'expired' : 'revoked'}</Badge>
}

function hasPassed(at: string | null): boolean {
  return at !== null && Date.parse(at) <= Date.now()
}
