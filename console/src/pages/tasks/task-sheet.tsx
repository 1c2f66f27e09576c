import { useQuery } from '@tanstack/react-query'
import { taskQuery, type Task } from '../../api/tasks.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { TaskDetails } from './task-details.tsx'
import { TYPE_LABELS } from './tasks-search.ts'

interface TaskSheetProps {
  readonly id: string
  /** The task as the list has it. Unknown if the page was opened with its address. */
  readonly known: Task | undefined
  readonly onClose: () => void
  readonly onOpen: (id: string) => void
}

/** Everything about one task. */
export function TaskSheet({ id, known, onClose, onOpen }: TaskSheetProps) {
  const read = useQuery(taskQuery(id))
  const task = read.data ?? known
  return (
    <Sheet title={task ? TYPE_LABELS[task.task_type] : 'Task'} side="right" isOpen onClose={onClose}>
      {task === undefined && read.isPending && <SkeletonRows />}
      {task === undefined && read.error && (
        <ErrorPanel
          title="The task could not be loaded"
          error={read.error}
          onRetry={() => void read.refetch()}
        />
      )}
      {task && <TaskDetails task={task} onOpen={onOpen} />}
    </Sheet>
  )
}
