import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { requestQuery, type RequestDetails } from '../../api/requests.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { Time } from '../../ui/text/time.tsx'
import { RequestAttempts } from '../../requests/request-attempts.tsx'
import { RequestBodies } from './request-bodies.tsx'
import { RequestOutcomeBadge } from '../../requests/request-outcome.tsx'
import { RequestTimings } from '../../requests/request-timings.tsx'

/** Everything that is known about one request. */
export function RequestSheet({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const request = useQuery(requestQuery(id))
  return (
    <Sheet title="Request" isOpen onClose={onClose} side="right">
      {request.isPending && <SkeletonRows />}
      {request.error && (
        <ErrorPanel
          title="The request could not be loaded"
          error={request.error}
          onRetry={() => void request.refetch()}
        />
      )}
      {request.data && (
        <div className="flex flex-col gap-6">
          <Facts request={request.data} />
          <Part title="Timings">
            <RequestTimings request={request.data} />
          </Part>
          <Part title="Attempts">
            <RequestAttempts request={request.data} />
          </Part>
          <Part title="Tokens and cost">
            <Charge request={request.data} />
          </Part>
          <Part title="Bodies">
            <RequestBodies request={request.data} />
          </Part>
        </div>
      )}
    </Sheet>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <section className="flex flex-col gap-3 border-t border-line pt-4">
      <h3 className="text-sm font-semibold">{title}</h3>
      {children}
    </section>
  )
}

function Facts({ request }: { readonly request: RequestDetails }) {
  const asked = request.requested_model
  return (
    <DetailsList
      details={{
        Outcome: <RequestOutcomeBadge request={request} />,
        'Error code': request.error_code && <span className="font-mono text-xs">{request.error_code}</span>,
        Error: request.error_message,
        'Request id': <CopyableId id={request.request_id} label="request id" />,
        Began: <Time at={request.created_at} form="short" />,
        Operation: `${request.operation}${request.wire ? ` (${request.wire})` : ''}${request.stream ? ', streamed' : ''}`,
        Model: request.model ?? 'none',
        'Asked for': asked === null || asked === request.model ? null : asked,
        Provider: request.provider ?? 'none',
        Key: request.key_name ?? request.key_id,
        Environment: request.env,
        Tags: request.tags && <Tags tags={request.tags} />,
        'End user': request.user,
        'Client’s request id': request.client_request_id,
        Task: request.task && <TaskOfRequest task={request.task} />,
      }}
    />
  )
}

function Tags({ tags }: { readonly tags: NonNullable<RequestDetails['tags']> }) {
  return (
    <span className="flex flex-wrap gap-1">
      {Object.entries(tags).map(([name, value]) => (
        <Link
          key={name}
          to="/log"
          search={{ tag: `${name}=${value}` }}
          aria-label={`Requests with ${name}=${value}`}
        >
          <Badge>{`${name}=${value}`}</Badge>
        </Link>
      ))}
    </span>
  )
}

function TaskOfRequest({ task }: { readonly task: NonNullable<RequestDetails['task']> }) {
  return (
    <span className="flex flex-wrap items-center gap-x-2">
      <Link to="/tasks" search={{ task: task.id }} className="text-accent hover:underline">
        {task.type}
      </Link>
      <Badge>{task.status}</Badge>
      {task.attempts > 1 && <span className="text-ink-soft">tried {task.attempts} times</span>}
    </span>
  )
}

function Charge({ request }: { readonly request: RequestDetails }) {
  const some = (count: number): string | null => (count === 0 ? null : formatCount(count))
  return (
    <DetailsList
      details={{
        Input: `${formatCount(request.prompt_tokens)} tokens`,
        'Read from cache': some(request.cached_tokens),
        'Written to cache': some(request.cache_write_tokens),
        Output: `${formatCount(request.completion_tokens)} tokens`,
        Reasoning: some(request.reasoning_tokens),
        Cost: formatUsd(request.cost_usd),
        'By promotional credit': request.promotional_usd === 0 ? null : formatUsd(request.promotional_usd),
        'Not covered': request.uncovered_usd === 0 ? null : formatUsd(request.uncovered_usd),
      }}
    />
  )
}
