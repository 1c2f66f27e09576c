import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import {
  BUDGET_WINDOWS as WINDOWS,
  budgetRequestsQuery,
  decideRequest,
  type BudgetRequest,
  type BudgetSubject,
  type RequestStatus,
} from '../api/budgets.ts'
import type { Column } from '../ui/data/data-table.tsx'
import { PagedTable } from '../ui/data/paged-table.tsx'
import { useAddressText } from '../ui/data/table/use-address-text.ts'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { formatUsd } from '../ui/format/format-usd.ts'
import { IconButton } from '../ui/forms/icon-button.tsx'
import { SelectField, type Choice } from '../ui/forms/select-field.tsx'
import { showFailure, showToast } from '../ui/overlays/toasts.tsx'
import { Badge, type Tone } from '../ui/text/badge.tsx'
import { Time } from '../ui/text/time.tsx'
import { useSubjectNames } from './subject-names.ts'

const TONES: Readonly<Record<RequestStatus, Tone>> = { pending: 'accent', approved: 'good', refused: 'plain' }

const SHOWN: readonly Choice<RequestStatus | 'all'>[] = [
  { value: 'pending', label: 'Waiting' },
  { value: 'approved', label: 'Approved' },
  { value: 'refused', label: 'Refused' },
  { value: 'all', label: 'All requests' },
]

/** Who asked for more than a budget allows, and the decision. */
export function BudgetRequests({ canDecide }: { readonly canDecide: boolean }) {
  const queryClient = useQueryClient()
  const nameOf = useSubjectNames(canDecide)
  const [asked, setAsked] = useAddressText('view_requests')
  const status = SHOWN.find(({ value }) => value === asked)?.value ?? 'pending'
  const requests = useInfiniteQuery(budgetRequestsQuery(status === 'all' ? null : status))
  const decision = useMutation({
    mutationFn: ({ id, verdict }: { id: string; verdict: 'approve' | 'refuse' }) =>
      decideRequest(id, verdict),
    onSuccess: async (_, { verdict }) => {
      await queryClient.invalidateQueries({ queryKey: ['budgets'] })
      showToast(verdict === 'approve' ? 'Approved: the budget is raised' : 'Refused')
    },
    onError: (error) => showFailure('The request could not be decided', error),
  })
  return (
    <div className="flex flex-col gap-4">
      <SelectField
        label="State"
        isLabelHidden
        className="w-48"
        value={status}
        choices={SHOWN}
        onChange={setAsked}
      />
      <PagedTable
        label="Requests"
        tools={{ id: 'budget_requests' }}
        query={requests}
        columns={columnsOf(nameOf, canDecide && !decision.isPending, (id, verdict) =>
          decision.mutate({ id, verdict }),
        )}
        rowId={({ id }) => id}
        empty={
          <EmptyState icon="check" title={status === 'pending' ? 'Nobody waits' : 'No request'}>
            Whoever reaches a budget can ask for more, with a reason.
          </EmptyState>
        }
      />
    </div>
  )
}

function columnsOf(
  nameOf: (subject: BudgetSubject) => string,
  canDecide: boolean,
  onDecide: (id: string, verdict: 'approve' | 'refuse') => void,
): Column<BudgetRequest>[] {
  return [
    {
      id: 'who',
      header: 'Who',
      value: ({ requested_by_name: name, requested_by: id }) => name ?? id,
      render: ({ requested_by_name: name, requested_by: id }) => (
        <span className="font-medium" title={id}>
          {name ?? id}
        </span>
      ),
    },
    {
      id: 'budget',
      header: 'For the budget of',
      value: ({ budget }) => nameOf(budget.subject),
      render: ({ budget }) =>
        `${nameOf(budget.subject)}, ${formatUsd(budget.limit_usd)} ${WINDOWS[budget.window]}`,
    },
    {
      id: 'reason',
      header: 'Reason',
      value: ({ reason }) => reason,
      isMinor: true,
      render: ({ reason }) => <span title={reason}>{reason}</span>,
    },
    {
      id: 'amount',
      header: 'Amount',
      value: ({ amount_usd: usd }) => usd,
      width: '104px',
      align: 'right',
      render: ({ amount_usd: amountUsd }) => formatUsd(amountUsd),
    },
    {
      id: 'until',
      header: 'Until',
      value: ({ until }) => until,
      width: '144px',
      isMinor: true,
      render: ({ until }) => <Time at={until} form="short" />,
    },
    {
      id: 'asked',
      header: 'Asked',
      value: ({ created_at: at }) => at,
      width: '128px',
      isMinor: true,
      render: ({ created_at: at }) => <Time at={at} />,
    },
    {
      id: 'status',
      header: 'State',
      value: ({ status }) => status,
      width: '104px',
      isMinor: true,
      render: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge>,
    },
    {
      id: 'decide',
      isAction: true,
      width: '104px',
      align: 'right',
      render: ({ id, status, reason }) =>
        canDecide &&
        status === 'pending' && (
          <span className="flex justify-end">
            <IconButton icon="check" label={`Approve: ${reason}`} onClick={() => onDecide(id, 'approve')} />
            <IconButton icon="close" label={`Refuse: ${reason}`} onClick={() => onDecide(id, 'refuse')} />
          </span>
        ),
    },
  ]
}
