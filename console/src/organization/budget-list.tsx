import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  BUDGET_WINDOWS as WINDOWS,
  budgetsQuery,
  deleteBudget,
  endRaise,
  type Budget,
  type BudgetSubject,
} from '../api/budgets.ts'
import { EmptyState } from '../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../ui/feedback/skeleton.tsx'
import { Button } from '../ui/forms/button.tsx'
import { IconButton } from '../ui/forms/icon-button.tsx'
import { ConfirmDialog } from '../ui/overlays/confirm-dialog.tsx'
import { Menu, MenuItem, MenuLine } from '../ui/overlays/menu.tsx'
import { showFailure } from '../ui/overlays/toasts.tsx'
import { Badge } from '../ui/text/badge.tsx'
import { BudgetBar } from './budget-bar.tsx'
import { AskForMoreDialog, BudgetDialog, RaiseDialog } from './budget-dialogs.tsx'
import { useSubjectNames } from './subject-names.ts'

interface BudgetListProps {
  /** The only subject whose budgets are shown and made. Null: all that the session may see. */
  readonly subject: BudgetSubject | null
  /** Whether the session may make and change budgets. Others ask for more. */
  readonly canManage: boolean
}

type Opened = { readonly kind: 'change' | 'raise' | 'delete' | 'ask'; readonly budget: Budget } | 'new' | null

/** Budgets as bars, each with what may be done with it. */
export function BudgetList({ subject, canManage }: BudgetListProps) {
  const queryClient = useQueryClient()
  const budgets = useInfiniteQuery(budgetsQuery(subject))
  const nameOf = useSubjectNames(canManage && subject === null)
  const [opened, setOpened] = useState<Opened>(null)
  const close = (): void => setOpened(null)
  const rows = budgets.data?.pages.flatMap(({ data }) => data) ?? []
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['budgets'] })
  const stopRaise = (id: string): void => {
    endRaise(id).then(refresh, (error: unknown) => showFailure('The raise could not be ended', error))
  }
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-ink-soft">
          A request passes every budget on its way, and the first without room refuses it. Days, weeks and
          months are those of UTC.
        </p>
        {canManage && (
          <Button kind="primary" icon="plus" onClick={() => setOpened('new')}>
            New budget
          </Button>
        )}
      </div>
      {budgets.isPending && <SkeletonRows count={3} />}
      {budgets.error && (
        <ErrorPanel
          title="Budgets could not be loaded"
          error={budgets.error}
          onRetry={() => void budgets.refetch()}
        />
      )}
      {budgets.isSuccess && rows.length === 0 && (
        <EmptyState icon="gauge" title="No budget">
          {canManage
            ? 'Only the balance of the account limits what is spent.'
            : 'Only the balance of the account limits what you spend.'}
        </EmptyState>
      )}
      {rows.length > 0 && (
        <ul
          aria-label="Budgets"
          className="flex flex-col divide-y divide-line rounded-lg border border-line bg-surface"
        >
          {rows.map((budget) => (
            <li key={budget.id} className="flex items-start gap-3 px-4 py-3">
              <div className="flex min-w-0 grow flex-col gap-2">
                <p className="flex flex-wrap items-center gap-2 text-sm">
                  <span className="min-w-0 truncate font-medium">{nameOf(budget.subject)}</span>
                  <span className="text-ink-soft">{WINDOWS[budget.window]}</span>
                  <Badge tone={budget.is_hard ? 'accent' : 'plain'}>
                    {budget.is_hard ? 'refuses' : 'only warns'}
                  </Badge>
                  {budget.models !== null && <Badge>{budget.models.join(', ')}</Badge>}
                </p>
                <BudgetBar budget={budget} name={`${nameOf(budget.subject)} ${WINDOWS[budget.window]}`} />
              </div>
              {canManage || budget.level === 'personal' ? (
                <Menu
                  trigger={
                    <IconButton icon="settings" label={`Change the budget of ${nameOf(budget.subject)}`} />
                  }
                >
                  <MenuItem icon="up" onSelect={() => setOpened({ kind: 'raise', budget })}>
                    Raise for a while
                  </MenuItem>
                  {budget.raise !== null && (
                    <MenuItem icon="down" onSelect={() => stopRaise(budget.id)}>
                      End the raise
                    </MenuItem>
                  )}
                  <MenuItem icon="pencil" onSelect={() => setOpened({ kind: 'change', budget })}>
                    Change
                  </MenuItem>
                  <MenuLine />
                  <MenuItem icon="trash" isDangerous onSelect={() => setOpened({ kind: 'delete', budget })}>
                    Delete
                  </MenuItem>
                </Menu>
              ) : (
                <Button onClick={() => setOpened({ kind: 'ask', budget })}>Ask for more</Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {budgets.hasNextPage && (
        <Button isBusy={budgets.isFetchingNextPage} onClick={() => void budgets.fetchNextPage()}>
          Show more
        </Button>
      )}
      {opened === 'new' && <BudgetDialog subject={subject} onClose={close} />}
      {opened !== null && opened !== 'new' && (
        <OpenedBudget {...opened} name={nameOf(opened.budget.subject)} onClose={close} />
      )}
    </div>
  )
}

interface OpenedBudgetProps extends Exclude<Opened, 'new' | null> {
  readonly name: string
  readonly onClose: () => void
}

function OpenedBudget({ kind, budget, name, onClose }: OpenedBudgetProps) {
  const queryClient = useQueryClient()
  if (kind === 'raise') return <RaiseDialog budget={budget} onClose={onClose} />
  if (kind === 'ask') return <AskForMoreDialog budget={budget} onClose={onClose} />
  if (kind === 'change') return <BudgetDialog subject={budget.subject} budget={budget} onClose={onClose} />
  return (
    <ConfirmDialog
      title={`Delete the budget of ${name}?`}
      description="It limits nothing any more. What was spent stays in the usage."
      action="Delete"
      onConfirm={async () => {
        await deleteBudget(budget.id)
        await queryClient.invalidateQueries({ queryKey: ['budgets'] })
      }}
      onClose={onClose}
    />
  )
}
