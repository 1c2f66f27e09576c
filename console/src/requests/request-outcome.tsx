import type { LoggedRequest, RequestOutcome } from '../api/requests.ts'
import { Badge, type Tone } from '../ui/text/badge.tsx'

const TONES: Readonly<Record<RequestOutcome, Tone>> = {
  completed: 'good',
  disconnected: 'plain',
  failed: 'bad',
  refused: 'warn',
}

type Ended = Pick<LoggedRequest, 'outcome' | 'http_status'>

export function RequestOutcomeBadge({ request }: { readonly request: Ended }) {
  const { outcome, http_status: status } = request
  return (
    <Badge tone={TONES[outcome]}>
      {outcome}
      {status !== null && status !== 200 && ` ${status}`}
    </Badge>
  )
}
