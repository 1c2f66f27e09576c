import { useMutation, useQueryClient } from '@tanstack/react-query'
import { cancelTask, isRunning, retryTask, taskQuery, type Task } from '../../api/tasks.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { showFailure, showToast } from '../../ui/overlays/toasts.tsx'

/** Cancels a task that runs, and makes one again. */
export function TaskActions({
  task,
  onOpen,
}: {
  readonly task: Task
  readonly onOpen: (id: string) => void
}) {
  const queryClient = useQueryClient()
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['tasks'] })
  const cancel = useMutation({
    mutationFn: () => cancelTask(task.id),
    onSuccess: (cancelled) => {
      queryClient.setQueryData(taskQuery(task.id).queryKey, cancelled)
      const { refund_amount_usd: refunded } = cancelled
      showToast(
        'The task was cancelled',
        refunded === undefined ? undefined : `${formatUsd(refunded)} were given back.`,
      )
      void refresh()
    },
    onError: (error) => showFailure('The task was not cancelled', error),
  })
  const retry = useMutation({
    mutationFn: () => retryTask(task.id),
    onSuccess: ({ id }) => {
      showToast('Another task was made', 'It has the same parameters.')
      void refresh()
      onOpen(id)
    },
    onError: (error) => showFailure('The task was not made again', error),
  })
  const isRepeatable = task.task_type !== 'response' && task.task_type !== 'stt'
  return (
    <div className="flex gap-2">
      {isRunning(task) && (
        <Button icon="stop" isBusy={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      )}
      {isRepeatable && (
        <Button icon="retry" isBusy={retry.isPending} onClick={() => retry.mutate()}>
          {task.status === 'failed' ? 'Try again' : 'Make again'}
        </Button>
      )}
    </div>
  )
}
