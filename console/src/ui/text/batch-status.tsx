import { Badge, type Tone } from './badge.tsx'

type Status =
  | 'validating'
  | 'failed'
  | 'in_progress'
  | 'finalizing'
  | 'completed'
  | 'expired'
  | 'cancelling'
  | 'cancelled'

const TONES: Readonly<Record<Status, Tone>> = {
  validating: 'plain',
  failed: 'bad',
  in_progress: 'accent',
  finalizing: 'accent',
  completed: 'good',
  expired: 'warn',
  cancelling: 'warn',
  cancelled: 'warn',
}

export function BatchStatus({ status }: { readonly status: Status }) {
  return <Badge tone={TONES[status]}>{status.replace('_', ' ')}</Badge>
}
