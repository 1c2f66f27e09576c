import { useMutation, useQuery } from '@tanstack/react-query'
import { cancelTask, isRunning, taskQuery } from '../../../api/tasks.ts'
import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { ProgressBar } from '../../../ui/feedback/progress-bar.tsx'
import { Skeleton } from '../../../ui/feedback/skeleton.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { formatUsd } from '../../../ui/format/format-usd.ts'
import { showFailure } from '../../../ui/overlays/toasts.tsx'
import { CopyableId } from '../../../ui/text/copyable-id.tsx'
import { MediaView } from './media-view.tsx'

/** Work that takes a while: its progress, then its result. */
export function TaskResult({ id }: { readonly id: string }) {
  const { data: task, error } = useQuery(taskQuery(id))
  const cancelled = useMutation({
    mutationFn: () => cancelTask(id),
    onError: (failure) => showFailure('The task could not be cancelled', failure),
  })
  if (error) return <ErrorPanel title="The task could not be read" error={error} />
  if (task === undefined) return <Skeleton className="h-32 w-full" />
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-faint">
        <CopyableId id={id} label="task id" />
        <span>{task.status}</span>
        {task.cost_usd !== null && <span className="tabular">{formatUsd(task.cost_usd)}</span>}
      </div>
      {isRunning(task) && (
        <>
          <ProgressBar
            label={task.status === 'pending' ? 'Waiting for its turn' : 'In progress'}
            percent={task.status === 'pending' ? null : task.progress}
            startedAtMs={task.started_at === null ? null : Date.parse(task.started_at)}
          />
          <Button
            className="self-start"
            icon="close"
            isBusy={cancelled.isPending}
            onClick={() => cancelled.mutate()}
          >
            Cancel
          </Button>
        </>
      )}
      {task.error && <ErrorPanel title="The task failed" error={new Error(task.error.message)} />}
      {resultAddresses(task.result).map((url) => (
        <MediaView key={url} url={url} type={task.task_type} />
      ))}
    </div>
  )
}

function resultAddresses(result: unknown): string[] {
  const files: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, 'data') : null
  if (!Array.isArray(files)) return []
  return files.flatMap((file: unknown) => {
    const url: unknown = typeof file === 'object' && file !== null ? Reflect.get(file, 'url') : null
    return typeof url === 'string' ? [url] : []
  })
}
