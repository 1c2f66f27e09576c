import { useQuery } from '@tanstack/react-query'
import { ownDeprecationsQuery, type UsedDeprecation } from '../api/deprecations.ts'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../ui/feedback/skeleton.tsx'
import { formatCountOf } from '../ui/format/format-count.ts'
import { formatUsd } from '../ui/format/format-usd.ts'
import { Dialog } from '../ui/overlays/dialog.tsx'
import { CopyableId } from '../ui/text/copyable-id.tsx'
import { Time } from '../ui/text/time.tsx'
import { EndOfModel } from './end-of-model.tsx'

/** Which keys of the account use models that end, and what to use instead. */
export function OwnDeprecationsDialog({ onClose }: { readonly onClose: () => void }) {
  const { data, error, isPending, refetch } = useQuery(ownDeprecationsQuery)
  return (
    <Dialog
      title="Models that end"
      description="Models that keys of yours used in the last 30 days, the next one to end first."
      isOpen
      isWide
      onClose={onClose}
    >
      {isPending && <SkeletonRows count={3} />}
      {error && (
        <ErrorPanel title="The models could not be loaded" error={error} onRetry={() => void refetch()} />
      )}
      <ul className="flex flex-col gap-5">
        {data?.data.map((model) => (
          <UsedModel key={model.id} model={model} />
        ))}
      </ul>
    </Dialog>
  )
}

function UsedModel({ model }: { readonly model: UsedDeprecation }) {
  return (
    <li className="flex flex-col gap-2">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <CopyableId id={model.id} label="id of the model" />
        <span className="text-sm">
          <EndOfModel model={model} />
        </span>
      </div>
      {model.successor !== null && (
        <p className="flex flex-wrap items-center gap-2 text-sm text-ink-soft">
          Use instead <CopyableId id={model.successor} label="id of the successor" />
        </p>
      )}
      <ul className="flex flex-col divide-y divide-line rounded-md border border-line">
        {model.keys.map(({ key, requests, cost_usd: costUsd, last_used_at: at }) => (
          <li
            key={key.id}
            className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1 px-3 py-2 text-sm"
          >
            <span className="min-w-0 truncate">
              {key.name ?? 'a deleted key'}
              {key.is_revoked && <span className="text-ink-faint"> (revoked)</span>}
            </span>
            <span className="tabular text-xs text-ink-soft">
              {formatCountOf(requests, 'request')}, {formatUsd(costUsd)}, last <Time at={at} form="short" />
            </span>
          </li>
        ))}
      </ul>
    </li>
  )
}
