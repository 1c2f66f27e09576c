import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import { useMay } from '../../api/permissions.ts'
import { accountLimitsQuery, setAccountTier, type AccountLimits } from '../../api/accounts.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatBytes, formatCount } from '../../ui/format/format-count.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { showToast } from '../../ui/overlays/toasts.tsx'
import { DetailsList } from '../../ui/text/details-list.tsx'

/** The limits of an account, and the tier that an operator sets for it. */
export function AccountLimitsView({ id }: { readonly id: string }) {
  const { data, error, refetch, isPending } = useQuery(accountLimitsQuery(id))
  if (isPending) return <SkeletonRows />
  if (error)
    return <ErrorPanel title="Limits could not be loaded" error={error} onRetry={() => void refetch()} />
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2">
      <Section title="Tier">
        <TierForm key={data.set_tier} id={id} limits={data} />
      </Section>
      <Section title="Limits and what is stored">
        <DetailsList details={describeLimits(data)} />
      </Section>
    </div>
  )
}

const BY_BALANCE = ''

function TierForm({ id, limits }: { readonly id: string; readonly limits: AccountLimits }) {
  const queryClient = useQueryClient()
  const saved = limits.set_tier ?? BY_BALANCE
  const [chosen, setChosen] = useState(saved)
  const update = useMutation({
    mutationFn: () => setAccountTier(id, chosen === BY_BALANCE ? null : chosen),
    onSuccess: async ({ tier }) => {
      showToast('The tier is set', `The account has the limits of ${tier}.`)
      await queryClient.invalidateQueries({ queryKey: ['accounts', id] })
    },
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    update.mutate()
  }
  const canSet = useMay('gateway.manage') === true
  const byBalance = limits.set_tier === null ? `By balance, now ${limits.tier}` : 'By balance'
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <SelectField
        label="Tier of limits"
        disabled={!canSet}
        hint="A tier that is set applies whatever the balance is. Keys can have lower limits of their own."
        value={chosen}
        choices={[
          { value: BY_BALANCE, label: byBalance },
          ...limits.tiers.map((tier) => ({ value: tier, label: tier })),
        ]}
        onChange={setChosen}
      />
      {update.error && <ErrorPanel title="The tier could not be set" error={update.error} />}
      <Permitted permission="gateway.manage">
        <div className="flex justify-end">
          <Button kind="primary" type="submit" isBusy={update.isPending} disabled={chosen === saved}>
            Set the tier
          </Button>
        </div>
      </Permitted>
    </form>
  )
}

function describeLimits({ limits, stored }: AccountLimits): Record<string, string> {
  const spend = limits.spend_usd_per_minute
  return {
    'Requests a minute, by key': countOf(limits.requests_per_minute),
    'Tokens a minute, by key': countOf(limits.tokens_per_minute),
    'Requests at once': countOf(limits.concurrent_requests),
    'Spend a minute': spend === null ? 'no limit' : formatUsd(spend),
    Media: storedOf(stored.media_bytes, limits.media_bytes_max),
    Files: storedOf(stored.file_bytes, limits.file_bytes_max),
    Datasets: storedOf(stored.dataset_bytes, limits.dataset_bytes_max),
    Tasks: storedOf(stored.task_bytes, limits.task_bytes_max),
    'Idempotent answers': storedOf(stored.stored_response_bytes, limits.stored_response_bytes_max),
    Responses: storedOf(stored.response_bytes, limits.response_bytes_max),
  }
}

function countOf(limit: number | null): string {
  return limit === null ? 'no limit' : formatCount(limit)
}

function storedOf(bytes: number, bytesMax: number | null): string {
  return `${formatBytes(bytes)} of ${bytesMax === null ? 'no limit' : formatBytes(bytesMax)}`
}
