import { describeFailure } from '../../api/api-error.ts'
import { Button } from '../forms/button.tsx'
import { Icon } from '../icon.tsx'
import { CopyableId } from '../text/copyable-id.tsx'
import { EmptyState } from './empty-state.tsx'

interface ErrorPanelProps {
  /** What could not be done, such as "Usage could not be loaded". */
  readonly title: string
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
}

/** A failure in the place of what it prevented: the API's message, and the request id for the operator. */
export function ErrorPanel({ title, error, onRetry }: ErrorPanelProps) {
  const { message, requestId, code } = describeFailure(error)
  // What is loaded again can be shown, and is not for this session. An action that was refused says so.
  if (code === 'forbidden' && onRetry) return <Refusal message={message} />
  return (
    <div role="alert" className="flex gap-3 rounded-lg border border-line bg-bad-soft px-4 py-3">
      <Icon name="warn" className="mt-0.5 text-bad" />
      <div className="min-w-0 grow">
        <p className="text-sm font-medium">{title}</p>
        <p className="text-sm break-words text-ink-soft">{message}</p>
        <p className="mt-1 flex flex-wrap items-center gap-x-3 text-xs text-ink-soft">
          <span className="font-mono">{code}</span>
          {requestId !== null && <CopyableId id={requestId} label="request id" />}
        </p>
      </div>
      {onRetry && (
        <Button icon="retry" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** Nothing failed, and trying again does not help: the session has no right to it. */
function Refusal({ message }: { readonly message: string }) {
  return (
    <EmptyState icon="key" title="Your session has no right to see this">
      {message} Ask whoever manages the roles and keys of the account.
    </EmptyState>
  )
}
