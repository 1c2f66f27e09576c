import { Badge, type Tone } from './badge.tsx'

type Status = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'

const TONES: Readonly<Record<Status, Tone>> = {
  queued: 'plain',
  running: 'accent',
  completed: 'good',
  failed: 'bad',
  cancelled: 'warn',
}

export function RunState({ status }: { readonly status: Status }) {
  return <Badge tone={TONES[status]}>{status}</Badge>
}
