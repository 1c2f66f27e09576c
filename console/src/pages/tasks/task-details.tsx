import { isRunning, type Task } from '../../api/tasks.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { buttonClass } from '../../ui/forms/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { Time } from '../../ui/text/time.tsx'
import { TaskActions } from './task-actions.tsx'
import { TaskDeliveries } from './task-deliveries.tsx'
import { filesOf } from './task-files.ts'
import { TaskFileView } from './task-file-view.tsx'
import { TaskProgress } from './task-progress.tsx'
import { TaskStatus } from '../../ui/text/task-status.tsx'

export function TaskDetails({
  task,
  onOpen,
}: {
  readonly task: Task
  readonly onOpen: (id: string) => void
}) {
  const label = task.prompt ?? `Result of ${task.model}`
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <TaskStatus status={task.status} />
        <TaskActions task={task} onOpen={onOpen} />
      </div>
      {isRunning(task) && <TaskProgress task={task} />}
      {task.error && (
        <div role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm">
          <p className="break-words">{task.error.message}</p>
          <p className="font-mono text-xs text-ink-soft">{task.error.code}</p>
        </div>
      )}
      {filesOf(task).map((file, index, all) => (
        <figure key={file.url} className="flex flex-col gap-2">
          <div className="overflow-hidden rounded-md bg-sunken">
            <TaskFileView
              file={file}
              label={all.length === 1 ? label : `${label} (${index + 1} of ${all.length})`}
            />
          </div>
          <a href={file.url} download className={buttonClass('quiet')}>
            <Icon name="download" />
            Download{all.length > 1 && ` ${index + 1} of ${all.length}`}
          </a>
        </figure>
      ))}
      {task.prompt !== null && <p className="text-sm break-words whitespace-pre-wrap">{task.prompt}</p>}
      <DetailsList details={detailsOf(task)} />
      {task.metadata && (
        <CodeBlock code={JSON.stringify(task.metadata, null, 2)} language="json" label="Metadata" />
      )}
      {!isRunning(task) && <TaskDeliveries id={task.id} />}
    </div>
  )
}

function detailsOf(task: Task) {
  const { started_at: from, completed_at: to, refund_amount_usd: refund } = task
  return {
    Id: <CopyableId id={task.id} label="task id" />,
    Model: task.model,
    Cost: task.cost_usd === null ? 'none' : formatUsd(task.cost_usd),
    'Given back': refund === undefined ? null : formatUsd(refund),
    Created: <Time at={task.created_at} form="short" />,
    Waited: from === null ? null : formatDuration(Date.parse(from) - Date.parse(task.created_at)),
    Took: from === null || to === null ? null : formatDuration(Date.parse(to) - Date.parse(from)),
    Attempt: task.attempt > 1 ? `${task.attempt} of 3` : null,
    'Result is kept until': <Time at={task.expires_at} form="short" />,
  }
}
