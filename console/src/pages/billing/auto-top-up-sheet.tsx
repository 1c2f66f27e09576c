import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  autoTopUpQuery,
  changeAutoTopUp,
  removeCard,
  startSavingCard,
  type AutoTopUp,
} from '../../api/auto-top-up.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { Sheet } from '../../ui/overlays/sheet.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { AutoTopUpForm } from './auto-top-up-form.tsx'

interface AutoTopUpSheetProps {
  readonly onClose: () => void
}

/** The saved card, and when it is charged. */
export function AutoTopUpSheet({ onClose }: AutoTopUpSheetProps) {
  const { data, error, refetch } = useQuery(autoTopUpQuery)
  return (
    <Sheet title="Automatic top-up" isOpen onClose={onClose} side="right">
      <div className="flex flex-col gap-6">
        {error && (
          <ErrorPanel
            title="The automatic top-up could not be loaded"
            error={error}
            onRetry={() => void refetch()}
          />
        )}
        {!data && !error && <SkeletonRows count={3} />}
        {data && <TopUpState topUp={data} />}
        {data && <SavedCard topUp={data} />}
        {data && <AutoTopUpForm topUp={data} />}
      </div>
    </Sheet>
  )
}

function TopUpState({ topUp }: { readonly topUp: AutoTopUp }) {
  const queryClient = useQueryClient()
  const { enabled, problem, threshold_usd: threshold, monthly_ceiling_usd: ceiling } = topUp
  const isReady = topUp.card !== null && threshold !== null
  const change = useMutation({
    mutationFn: () => changeAutoTopUp({ enabled: !enabled }),
    onSuccess: (changed) => {
      queryClient.setQueryData(autoTopUpQuery.queryKey, changed)
      showToast(changed.enabled ? 'The automatic top-up is on' : 'The automatic top-up is off')
    },
  })
  return (
    <section className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-4">
        <span className="flex items-center gap-2">
          <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? 'on' : 'off'}</Badge>
          {topUp.charging && <Badge tone="accent">charging now</Badge>}
        </span>
        <Button
          kind={enabled ? 'plain' : 'primary'}
          disabled={!enabled && !isReady}
          isBusy={change.isPending}
          onClick={() => change.mutate()}
        >
          {enabled ? 'Switch off' : 'Switch on'}
        </Button>
      </div>
      {ceiling !== null && (
        <p className="text-sm text-ink-soft">
          {formatUsd(topUp.spent_this_month_usd)} of {formatUsd(ceiling)} were charged in this month (UTC).
        </p>
      )}
      {!enabled && !isReady && (
        <p className="text-sm text-ink-soft">
          Save a card and the amounts, then switch it on. A balance below the threshold is then topped up
          without you.
        </p>
      )}
      {problem !== null && (
        <p role="alert" className="flex items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm">
          <Icon name="warn" className="shrink-0 text-warn" />
          {describeProblem(topUp, problem)}
        </p>
      )}
      {change.error && <ErrorPanel title="It could not be switched" error={change.error} />}
    </section>
  )
}

function describeProblem({ enabled, failures }: AutoTopUp, problem: string): string {
  if (problem === 'refunded' || problem === 'disputed')
    return `A top-up was ${problem}, so the automatic top-up was switched off.`
  const times = failures === 1 ? 'once' : `${failures} times`
  const next = enabled
    ? 'It is tried again.'
    : 'It was switched off. Save another card and switch it on again.'
  return `The card could not be charged ${times} (${problem.replaceAll('_', ' ')}). ${next}`
}

function SavedCard({ topUp: { card } }: { readonly topUp: AutoTopUp }) {
  const queryClient = useQueryClient()
  const [isRemoving, setIsRemoving] = useState(false)
  const saving = useMutation({
    mutationFn: () => startSavingCard('/billing'),
    onSuccess: ({ url }) => location.assign(url),
  })
  return (
    <section aria-labelledby="saved-card" className="flex flex-col gap-3">
      <h3 id="saved-card" className="text-sm font-semibold">
        Card
      </h3>
      <p className="flex items-center gap-2 text-sm">
        <Icon name="card" className="text-ink-faint" />
        {card === null ? 'No card is saved.' : describeCard(card)}
      </p>
      <div className="flex flex-wrap gap-2">
        <Button isBusy={saving.isPending || saving.isSuccess} onClick={() => saving.mutate()}>
          {card === null ? 'Save a card' : 'Save another card'}
        </Button>
        {card !== null && (
          <Button kind="quiet" onClick={() => setIsRemoving(true)}>
            Remove
          </Button>
        )}
      </div>
      {saving.error && <ErrorPanel title="No card can be saved" error={saving.error} />}
      {isRemoving && (
        <ConfirmDialog
          title="Remove the card?"
          description="The payment provider forgets it, and the automatic top-up is switched off."
          action="Remove"
          onConfirm={async () => {
            queryClient.setQueryData(autoTopUpQuery.queryKey, await removeCard())
            showToast('The card is removed')
          }}
          onClose={() => setIsRemoving(false)}
        />
      )}
    </section>
  )
}

function describeCard({ brand, last4, expires }: NonNullable<AutoTopUp['card']>): string {
  return `${brand} ending in ${last4}${expires === null ? '' : `, valid until ${expires}`}`
}
