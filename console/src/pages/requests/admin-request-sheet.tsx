import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import {
  adminRequestBodyQuery,
  adminRequestQuery,
  type AdminRequestDetails,
} from '../../api/admin-requests.ts'
import { RequestAttempts } from '../../requests/request-attempts.tsx'
import { RequestOutcomeBadge } from '../../requests/request-outcome.tsx'
import { RequestTimings } from '../../requests/request-timings.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'
import { Time } from '../../ui/text/time.tsx'
import { RequestReplay } from './request-replay.tsx'

/** Everything that operators may know about one request. */
export function AdminRequestSheet({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const request = useQuery(adminRequestQuery(id))
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
          <Permitted permission="gateway.manage">
            {request.data.body_stored && (
              <Part title="Bodies">
                <Bodies request={request.data} />
              </Part>
            )}
            {request.data.body_stored && REPLAYED.has(request.data.operation) && (
              <Part title="Replay">
                <RequestReplay request={request.data} />
              </Part>
            )}
          </Permitted>
        </div>
      )}
    </Sheet>
  )
}

const REPLAYED: ReadonlySet<string> = new Set(['chat', 'messages', 'responses'])

/** Reading them is written to the audit log, so that nothing is read before somebody asks. */
function Bodies({ request }: { readonly request: AdminRequestDetails }) {
  const [isOpen, setIsOpen] = useState(false)
  const bodies = useQuery({
    ...adminRequestBodyQuery(request.request_id, request.account_id),
    enabled: isOpen,
  })
  if (!isOpen)
    return (
      <div>
        <Button onClick={() => setIsOpen(true)}>Show the bodies</Button>
      </div>
    )
  if (bodies.error) return <ErrorPanel title="The bodies could not be loaded" error={bodies.error} />
  if (bodies.data === undefined) return <SkeletonRows />
  return (
    <>
      <CodeBlock label="Request" language="json" code={bodies.data.request.text} />
      <CodeBlock label="Answer" language="json" code={bodies.data.answer.text} />
    </>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="flex flex-col gap-3 border-t border-line pt-4">
      <h3 className="text-sm font-semibold">{title}</h3>
      {children}
    </section>
  )
}

function Facts({ request }: { readonly request: AdminRequestDetails }) {
  const { upstream_error: said, error_key: errorKey } = request
  const like = 'text-accent hover:underline'
  return (
    <DetailsList
      details={{
        Outcome: <RequestOutcomeBadge request={request} />,
        'Error code': request.error_code && <span className="font-mono text-xs">{request.error_code}</span>,
        'The client was told': request.error_message,
        'The provider said': said && [said.status, said.code, said.message].filter(Boolean).join(' '),
        'Same error': errorKey && (
          <Link to="/requests" search={{ error_key: errorKey }} className={like}>
            All requests with this error
          </Link>
        ),
        Account: (
          <Link to="/accounts/$id" params={{ id: request.account_id }} className={like}>
            {request.account_name ?? request.account_id}
          </Link>
        ),
        Key: request.key_name ?? request.key_id,
        'Request id': <CopyableId id={request.request_id} label="request id" />,
        Began: <Time at={request.created_at} form="short" />,
        Operation: `${request.operation}${request.stream ? ', streamed' : ''}`,
        Model: request.model ?? request.requested_model ?? 'none',
        Provider: request.provider ?? 'none',
        Environment: request.env,
        Tags:
          request.tags &&
          Object.entries(request.tags)
            .map(([name, value]) => `${name}=${value}`)
            .join(', '),
        'End user': request.user,
        'Client’s request id': request.client_request_id,
        Tokens: `${formatCount(request.prompt_tokens)} in, ${formatCount(request.completion_tokens)} out`,
        Cost: formatUsd(request.cost_usd),
      }}
    />
  )
}
