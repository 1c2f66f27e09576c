import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { latestTasksQuery } from '../../api/tasks.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { ProgressBar } from '../../ui/feedback/progress-bar.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { buttonClass } from '../../ui/forms/button.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { TaskStatus } from '../../ui/text/task-status.tsx'
import { Time } from '../../ui/text/time.tsx'

export function LatestTasks() {
  const { data, error, isPending, refetch } = useQuery(latestTasksQuery)
  return (
    <Section
      title="Tasks"
      actions={
        <Link to="/tasks" className={buttonClass('quiet')}>
          All tasks
        </Link>
      }
    >
      {isPending && <SkeletonRows count={3} />}
      {error && <ErrorPanel title="Tasks could not be loaded" error={error} onRetry={() => void refetch()} />}
      {data?.data.length === 0 && (
        <p className="text-sm text-ink-soft">
          No tasks yet. Images, videos and music that take a while become tasks; their progress is shown here.
        </p>
      )}
      <ul className="flex flex-col gap-3">
        {data?.data.map((task) => (
          <li key={task.id} className="flex flex-col gap-1.5">
            <div className="flex items-center gap-3 text-sm">
              <Link to="/tasks" search={{ task: task.id }} className="min-w-0 grow truncate hover:underline">
                {task.model ?? task.task_type} <span className="text-ink-faint">{task.task_type}</span>
              </Link>
              <span className="text-xs text-ink-faint">
                <Time at={task.created_at} />
              </span>
              <TaskStatus status={task.status} />
            </div>
            {task.status === 'processing' && (
              <ProgressBar
                label="Progress"
                percent={task.progress}
                startedAtMs={task.started_at === null ? null : Date.parse(task.started_at)}
              />
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}
