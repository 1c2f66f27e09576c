import { useQuery } from '@tanstack/react-query'
import { deploymentEventsQuery } from '../../api/deployment.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { DeploymentState } from '../../ui/text/deployment-state.tsx'
import { Time } from '../../ui/text/time.tsx'

/** What happened to a deployment, and how long each step took. */
export function EventTimeline({ id, status }: { readonly id: string; readonly status: string }) {
  const events = useQuery(deploymentEventsQuery(id, status))
  if (events.isPending) return <SkeletonRows />
  if (events.error)
    return (
      <ErrorPanel
        title="The history could not be loaded"
        error={events.error}
        onRetry={() => void events.refetch()}
      />
    )
  return (
    <ol aria-label="History" className="flex flex-col">
      {events.data.map((event, index, all) => {
        const next = all[index + 1]
        return (
          <li key={event.id} className="relative flex gap-4 pb-5 pl-6 last:pb-0">
            <span aria-hidden="true" className="absolute top-1.5 left-1 size-2 rounded-full bg-accent" />
            {next && (
              <span aria-hidden="true" className="absolute top-4 bottom-0 left-[7px] w-px bg-line-strong" />
            )}
            <div className="flex min-w-0 grow flex-col gap-0.5">
              <p className="flex flex-wrap items-center gap-2 text-sm">
                <DeploymentState status={event.to} />
                <span className="min-w-0 break-words whitespace-pre-wrap">{event.message}</span>
              </p>
              <p className="flex gap-3 text-xs text-ink-faint">
                <Time at={event.created_at} form="short" />
                {next && (
                  <span className="tabular">
                    {formatDuration(Date.parse(next.created_at) - Date.parse(event.created_at))}
                  </span>
                )}
              </p>
            </div>
          </li>
        )
      })}
    </ol>
  )
}
