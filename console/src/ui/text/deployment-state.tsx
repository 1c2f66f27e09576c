import { Badge, type Tone } from './badge.tsx'

type Status =
  | 'queued'
  | 'creating'
  | 'starting'
  | 'running'
  | 'sleeping'
  | 'stopping'
  | 'stopped'
  | 'error'
  | 'deleted'

const TONES: Readonly<Record<Status, Tone>> = {
  queued: 'plain',
  creating: 'accent',
  starting: 'accent',
  running: 'good',
  sleeping: 'plain',
  stopping: 'warn',
  stopped: 'plain',
  error: 'bad',
  deleted: 'plain',
}

export function DeploymentState({ status }: { readonly status: Status }) {
  return <Badge tone={TONES[status]}>{status}</Badge>
}
