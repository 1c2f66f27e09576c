import type { RequestDetails } from '../api/requests.ts'
import type { AdminRequestDetails } from '../api/admin-requests.ts'
import { formatDuration } from '../ui/format/format-duration.ts'
import { Badge } from '../ui/text/badge.tsx'

/** The calls to upstreams that one request took. */
export function RequestAttempts({
  request: { attempts },
}: {
  readonly request: Pick<RequestDetails | AdminRequestDetails, 'attempts'>
}) {
  if (attempts === null) return <p className="text-sm text-ink-soft">They were not recorded.</p>
  if (attempts.length === 0) return <p className="text-sm text-ink-soft">No upstream was called.</p>
  return (
    <ol className="flex flex-col divide-y divide-line rounded-md border border-line text-sm">
      {attempts.map((attempt) => (
        <li key={attempt.number} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
          <span className="tabular text-ink-faint">{attempt.number}</span>
          <span className="font-medium">{attempt.provider}</span>
          <span className="min-w-0 grow truncate font-mono text-xs text-ink-soft">{attempt.model}</span>
          {attempt.reason !== 'first' && <Badge>{attempt.reason}</Badge>}
          <Badge tone={attempt.outcome === 'answered' ? 'good' : 'bad'}>
            {attempt.outcome}
            {attempt.http_status !== null && ` ${attempt.http_status}`}
          </Badge>
          <span className="tabular text-ink-soft">{formatDuration(attempt.duration_ms)}</span>
          {'error_message' in attempt && (attempt.error_message ?? attempt.error_code) && (
            <p className="w-full text-xs break-words text-ink-soft">
              {attempt.error_code && <span className="font-mono">{attempt.error_code} </span>}
              {attempt.error_message}
            </p>
          )}
        </li>
      ))}
    </ol>
  )
}
