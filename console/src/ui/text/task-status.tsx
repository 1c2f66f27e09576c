import { Badge, type Tone } from './badge.tsx'

type Status = 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled'

const TONES: Readonly<Record<Status, Tone>> = {
  pending: 'plain',
  processing: 'accent',
  completed: 'good',
  failed: 'bad',
  cancelled: 'warn',
}

export function TaskStatus({ status }: { readonly status: Status }) {
  return <Badge tone={TONES[status]}>{status}</Badge>
}
