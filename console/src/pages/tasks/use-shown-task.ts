import { useQuery } from '@tanstack/react-query'
import { isRunning, taskQuery, type Task } from '../../api/tasks.ts'

/** The task as it is now. Only tasks that run are read again. */
export function useShownTask(known: Task): Task {
  const { data } = useQuery({ ...taskQuery(known.id), enabled: isRunning(known) })
  return data !== undefined && data.updated_at >= known.updated_at ? data : known
}
