import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { deliveriesQuery, redeliver } from '../../api/tasks.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Skeleton } from '../../ui/feedback/skeleton.tsx'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { Button } from '../../ui/forms/button.tsx'
import { showFailure, showToast } from '../../ui/overlays/toasts.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { Time } from '../../ui/text/time.tsx'

type Delivery = Awaited<
  ReturnType<Exclude<ReturnType<typeof deliveriesQuery>['queryFn'], symbol | undefined>>
>[number]

const TONES = { pending: 'plain', delivered: 'good', failed: 'bad' } as const

/** How telling the webhook went, try by try. */
export function TaskDeliveries({ id }: { readonly id: string }) {
  const deliveries = useQuery(deliveriesQuery(id))
  return (
    <section aria-label="Webhook deliveries" className="flex flex-col gap-2 border-t border-line pt-4">
      <h3 className="text-sm font-semibold">Webhook</h3>
      {deliveries.isPending && <Skeleton className="h-5 w-48" />}
      {deliveries.error && (
        <ErrorPanel
          title="Deliveries could not be loaded"
          error={deliveries.error}
          onRetry={() => void deliveries.refetch()}
        />
      )}
      {deliveries.data?.length === 0 && (
        <p className="text-sm text-ink-faint">The request had no webhook_url, so nothing was delivered.</p>
      )}
      {deliveries.data?.map((delivery) => (
        <DeliveryView key={delivery.id} delivery={delivery} />
      ))}
    </section>
  )
}

function DeliveryView({ delivery }: { readonly delivery: Delivery }) {
  const queryClient = useQueryClient()
  const again = useMutation({
    mutationFn: () => redeliver(delivery.id),
    onSuccess: () => {
      showToast('The webhook is called again')
      void queryClient.invalidateQueries({ queryKey: ['tasks', 'deliveries'] })
    },
    onError: (error) => showFailure('The webhook was not called again', error),
  })
  return (
    <div className="flex flex-col gap-1 text-sm">
      <p className="flex items-center gap-2">
        <Badge tone={TONES[delivery.status]}>{delivery.status}</Badge>
        <span className="truncate font-mono text-xs" title={delivery.url}>
          {delivery.url}
        </span>
      </p>
      <ol className="flex flex-col gap-1">
        {delivery.attempts.map((attempt) => (
          <li key={attempt.at} className="flex flex-wrap gap-x-3 text-xs text-ink-soft">
            <Time at={attempt.at} form="short" />
            <span className="tabular">
              {attempt.status === null ? 'no answer' : `status ${attempt.status}`}
            </span>
            <span className="tabular">{formatDuration(attempt.duration_ms)}</span>
            {attempt.error !== null && <span className="break-words">{attempt.error}</span>}
          </li>
        ))}
      </ol>
      {delivery.next_attempt_at !== null && (
        <p className="text-xs text-ink-faint">
          Next try <Time at={delivery.next_attempt_at} />
        </p>
      )}
      {delivery.status !== 'pending' && (
        <div>
          <Button icon="retry" isBusy={again.isPending} onClick={() => again.mutate()}>
            Call again
          </Button>
        </div>
      )}
    </div>
  )
}
