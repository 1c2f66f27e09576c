import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { oneAccountQuery } from '../../api/accounts.ts'
import { ACCOUNT_ID, PAYMENT_STATUSES, type PaymentFilters } from '../../api/all-payments.ts'
import { PAYMENT_KIND_NAMES, PAYMENT_KINDS } from '../../api/billing.ts'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { DayRangeFields } from '../../ui/forms/day-range-fields.tsx'
import { FilterBar } from '../../ui/layout/filter-bar.tsx'

interface PaymentFilterBarProps {
  readonly filters: PaymentFilters
  readonly total: number | undefined
}

const KINDS = [
  { value: '', label: 'Any kind' },
  ...PAYMENT_KINDS.map((kind) => ({ value: kind, label: PAYMENT_KIND_NAMES[kind] })),
] as const

const STATES = [
  { value: '', label: 'Any state' },
  ...PAYMENT_STATUSES.map((status) => ({ value: status, label: status.replaceAll('_', ' ') })),
] as const

/** Which payments are listed. All of it is in the address. */
export function PaymentFilterBar({ filters, total }: PaymentFilterBarProps) {
  const navigate = useNavigate()
  const change = (next: PaymentFilters): void =>
    void navigate({ to: '/payments', search: { ...filters, ...next }, replace: true })
  const isFiltered = Object.keys(filters).length > 0
  return (
    <FilterBar
      count={total === undefined ? undefined : formatCountOf(total, 'payment')}
      {...(isFiltered && { onClear: () => void navigate({ to: '/payments', search: {}, replace: true }) })}
    >
      <AccountFilter id={filters.account} onChange={(account) => change({ account })} />
      <SelectField
        label="Kind"
        isLabelHidden
        value={filters.kind ?? ''}
        choices={KINDS}
        onChange={(kind) => change({ kind: kind === '' ? undefined : kind })}
      />
      <SelectField
        label="State"
        isLabelHidden
        value={filters.status ?? ''}
        choices={STATES}
        onChange={(status) => change({ status: status === '' ? undefined : status })}
      />
      <DayRangeFields range={filters} onChange={change} />
    </FilterBar>
  )
}

interface AccountFilterProps {
  readonly id: string | undefined
  readonly onChange: (id: string | undefined) => void
}

/** The account by its id, which is pasted. Shows its name once it is set. */
function AccountFilter({ id, onChange }: AccountFilterProps) {
  const [text, setText] = useState('')
  if (id !== undefined) return <ChosenAccount id={id} onRemove={() => onChange(undefined)} />
  const enter = (entered: string): void => {
    setText(entered)
    if (ACCOUNT_ID.test(entered.trim())) onChange(entered.trim())
  }
  return <SearchField label="Account id" className="w-48 max-sm:w-full" value={text} onChange={enter} />
}

function ChosenAccount({ id, onRemove }: { readonly id: string; readonly onRemove: () => void }) {
  const { data } = useQuery(oneAccountQuery(id))
  return (
    <Button icon="close" onClick={onRemove} aria-label={`Remove the filter by account ${data?.name ?? id}`}>
      <span className="max-w-48 truncate">{data?.name ?? id}</span>
    </Button>
  )
}
