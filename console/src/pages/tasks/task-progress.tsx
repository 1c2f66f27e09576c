import type { Task } from '../../api/tasks.ts'
import { ProgressBar } from '../../ui/feedback/progress-bar.tsx'

/** How far a running task is. */
export function TaskProgress({ task }: { readonly task: Task }) {
  if (task.status === 'pending') return <ProgressBar label={queueLabel(task.queue_position)} percent={null} />
  return (
    <ProgressBar
      label="Running"
      percent={task.progress}
      startedAtMs={task.started_at === null ? null : Date.parse(task.started_at)}
    />
  )
}

function queueLabel(position: number | null): string {
  return position === null || position === 0 ? 'Next in the queue' : `${position} before it in the queue`
}
