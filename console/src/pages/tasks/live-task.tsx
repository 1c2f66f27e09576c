import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isRunning, taskQuery, type Task } from '../../api/tasks.ts'

interface LiveTaskProps {
  readonly task: Task
  readonly children: (task: Task) => ReactNode
}

/** Shows the task as it is now. Only tasks that run are read again. */
export function LiveTask({ task, children }: LiveTaskProps) {
  return isRunning(task) ? <RunningTask task={task}>{children}</RunningTask> : children(task)
}

function RunningTask({ task: known, children }: LiveTaskProps) {
  const { data } = useQuery(taskQuery(known.id))
  return children(data !== undefined && data.updated_at >= known.updated_at ? data : known)
}
