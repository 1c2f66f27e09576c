import { isRunning, type Task } from '../../api/tasks.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Icon } from '../../ui/icon.tsx'
import { Time } from '../../ui/text/time.tsx'
import { LiveTask } from './live-task.tsx'
import { filesOf } from './task-files.ts'
import { TaskFileView } from './task-file-view.tsx'
import { TaskProgress } from './task-progress.tsx'
import { TaskStatus } from '../../ui/text/task-status.tsx'
import { TYPE_LABELS } from './tasks-search.ts'

interface TaskCardProps {
  readonly task: Task
  readonly onOpen: (task: Task) => void
}

/** What a task has made, or how far it is. */
export function TaskCard({ task: known, onOpen }: TaskCardProps) {
  return <LiveTask task={known}>{(task) => <Card task={task} onOpen={onOpen} />}</LiveTask>
}

function Card({ task, onOpen }: TaskCardProps) {
  const title = task.prompt ?? TYPE_LABELS[task.task_type]
  return (
    <article className="relative flex h-full flex-col overflow-hidden rounded-lg border border-line bg-surface transition-colors hover:border-line-strong">
      <div className="relative flex h-44 shrink-0 flex-col justify-center overflow-hidden bg-sunken">
        <CardContent task={task} title={title} />
      </div>
      <div className="flex min-h-0 grow flex-col justify-between gap-1 px-3 py-2">
        <button
          type="button"
          onClick={() => onOpen(task)}
          title={title}
          className="line-clamp-2 text-left text-sm/5 font-medium before:absolute before:inset-0 before:rounded-lg focus-visible:outline-none focus-visible:before:outline-2 focus-visible:before:-outline-offset-2 focus-visible:before:outline-accent"
        >
          {title}
        </button>
        <div className="flex items-center gap-2 text-xs text-ink-faint">
          <span className="min-w-0 truncate">{task.model}</span>
          <span className="ml-auto flex shrink-0 items-center gap-2">
            {task.cost_usd !== null && task.cost_usd > 0 && (
              <span className="tabular">{formatUsd(task.cost_usd)}</span>
            )}
            <Time at={task.created_at} />
          </span>
        </div>
      </div>
    </article>
  )
}

function CardContent({ task, title }: { readonly task: Task; readonly title: string }) {
  const files = filesOf(task)
  const [file] = files
  if (isRunning(task))
    return (
      <div className="px-4">
        <TaskProgress task={task} />
      </div>
    )
  if (file !== undefined)
    return (
      <>
        {file.kind === 'audio' ? (
          // Above the button that covers the card, so that it can be played here.
          <div className="relative z-10 px-3">
            <TaskFileView file={file} label={title} />
          </div>
        ) : (
          <TaskFileView file={file} label={title} isCropped />
        )}
        {file.kind === 'video' && <PlayMark />}
        {files.length > 1 && (
          <span className="absolute top-2 right-2 rounded bg-surface/90 px-1.5 text-2xs/5 font-medium">
            1 of {files.length}
          </span>
        )}
      </>
    )
  return (
    <div className="flex flex-col items-center gap-2 px-4 text-center">
      <TaskStatus status={task.status} />
      <p className="line-clamp-4 text-xs break-words text-ink-soft">{endingOf(task)}</p>
    </div>
  )
}

function PlayMark() {
  return (
    <span className="pointer-events-none absolute inset-0 m-auto flex size-10 items-center justify-center rounded-full bg-surface/90 text-ink">
      <Icon name="play" className="ml-0.5" />
    </span>
  )
}

function endingOf({ status, error, task_type: type, result }: Task): string {
  if (error !== null) return error.message
  if (status === 'cancelled') return 'It was cancelled before it was done.'
  return result === null ? 'Its result has expired.' : TYPE_LABELS[type]
}
