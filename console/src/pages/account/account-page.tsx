import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Permitted } from '../../ui/permitted.tsx'
import { accountBudgetQuery, activateAccount, oneAccountQuery } from '../../api/accounts.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Tabs } from '../../ui/layout/tabs.tsx'
import { ConfirmDialog } from '../../ui/overlays/confirm-dialog.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { Figure } from '../../ui/text/figure.tsx'
import { AccountLists } from './account-lists.tsx'
import { BudgetDialog } from './budget-dialog.tsx'
import { CreditDialog } from './credit-dialog.tsx'
import { NoteDialog } from './note-dialog.tsx'
import { SuspendDialog } from './suspend-dialog.tsx'

const route = getRouteApi('/shell/accounts/$id')

const TABS = [
  { value: 'keys', label: 'Keys' },
  { value: 'usage', label: 'Usage' },
  { value: 'limits', label: 'Limits' },
  { value: 'ledger', label: 'Ledger' },
  { value: 'payments', label: 'Payments' },
  { value: 'requests', label: 'Requests' },
] as const

export function AccountPage() {
  const { id } = route.useParams()
  const { tab = 'keys' } = route.useSearch()
  const navigate = route.useNavigate()
  const queryClient = useQueryClient()
  const account = useQuery(oneAccountQuery(id))
  const budget = useQuery(accountBudgetQuery(id))
  const [opened, setOpened] = useState<'credit' | 'budget' | 'note' | 'state' | null>(null)
  const action = account.data?.status === 'suspended' ? 'activate' : 'suspend'
  const close = (): void => setOpened(null)
  return (
    <Page>
      <PageHeader
        title={account.data?.name ?? 'Account'}
        description={<CopyableId id={id} label="account id" />}
        actions={
          <>
            <Link to="/audit" search={{ account: id }} className={buttonClass('quiet')}>
              Audit
            </Link>
            <Permitted permission="gateway.manage">
              <Button onClick={() => setOpened('note')}>Note</Button>
              <Button kind="danger" onClick={() => setOpened('state')}>
                {action === 'suspend' ? 'Suspend' : 'Activate'}
              </Button>
              <Button onClick={() => setOpened('budget')}>Set budgets</Button>
              <Button kind="primary" icon="plus" onClick={() => setOpened('credit')}>
                Change credit
              </Button>
            </Permitted>
          </>
        }
      />
      {account.error && (
        <ErrorPanel
          title="The account could not be loaded"
          error={account.error}
          onRetry={() => void account.refetch()}
        />
      )}
      <Section>
        <div className="grid grid-cols-2 gap-6 lg:grid-cols-4">
          <Figure label="State" value={account.data?.status} note={account.data?.suspended_reason} />
          <Figure label="Balance" value={account.data && formatUsd(account.data.balance_usd)} />
          <Figure
            label="Budget a month"
            value={budget.data && limitOf(budget.data.monthly_usd)}
            note={budget.data && spentOf(budget.data.monthly_spent_usd)}
          />
          <Figure
            label="Budget a day"
            value={budget.data && limitOf(budget.data.daily_usd)}
            note={budget.data && spentOf(budget.data.daily_spent_usd)}
          />
        </div>
      </Section>
      {account.data?.note && (
        <Section title="Note">
          <p className="text-sm whitespace-pre-wrap">{account.data.note}</p>
        </Section>
      )}
      <Tabs
        label="Lists"
        value={tab}
        tabs={TABS}
        onChange={(chosen) => void navigate({ search: { tab: chosen }, replace: true })}
      >
        <AccountLists id={id} tab={tab} />
      </Tabs>
      {opened === 'credit' && <CreditDialog id={id} onClose={close} />}
      {opened === 'budget' && budget.data && (
        <BudgetDialog
          id={id}
          monthlyUsd={budget.data.monthly_usd}
          dailyUsd={budget.data.daily_usd}
          onClose={close}
        />
      )}
      {opened === 'note' && <NoteDialog id={id} note={account.data?.note ?? ''} onClose={close} />}
      {opened === 'state' && action === 'suspend' && <SuspendDialog id={id} onClose={close} />}
      {opened === 'state' && action === 'activate' && (
        <ConfirmDialog
          title="Activate this account?"
          description="Its keys work again."
          action="Activate the account"
          onConfirm={async () => {
            await activateAccount(id)
            await queryClient.invalidateQueries({ queryKey: ['accounts'] })
          }}
          onClose={close}
        />
      )}
    </Page>
  )
}

function limitOf(limitUsd: number | null): string {
  return limitUsd === null ? 'none' : formatUsd(limitUsd)
}

function spentOf(spentUsd: number | null): string | null {
  return spentUsd === null ? null : `${formatUsd(spentUsd)} spent`
}
