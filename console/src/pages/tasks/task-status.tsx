import type { Task } from '../../api/tasks.ts'
import { Badge, type Tone } from '../../ui/text/badge.tsx'

const TONES: Readonly<Record<Task['status'], Tone>> = {
  pending: 'plain',
  processing: 'accent',
  completed: 'good',
  failed: 'bad',
  cancelled: 'warn',
}

export function TaskStatus({ status }: { readonly status: Task['status'] }) {
  return <Badge tone={TONES[status]}>{status}</Badge>
}
