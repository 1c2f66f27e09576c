import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { accountQuery } from '../../api/account.ts'
import { useNeed, usePermissions } from '../../api/permissions.ts'
import { Button, buttonClass } from '../../ui/forms/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { AlertNotices } from './alert-notices.tsx'
import { AlertsSheet } from './alerts-sheet.tsx'
import { AnomalyNotice } from './anomaly-notice.tsx'
import { AutoTopUpSheet } from './auto-top-up-sheet.tsx'
import { BudgetSection } from './budget-section.tsx'
import { PaymentHistory } from './payment-history.tsx'
import { PromoSection } from './promo-section.tsx'
import { TopUpSection } from './top-up-section.tsx'

const route = getRouteApi('/shell/billing')

export function BillingPage() {
  const { back } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: account } = useQuery(accountQuery)
  const [areAlertsOpen, setAreAlertsOpen] = useState(false)
  const [isAutoTopUpOpen, setIsAutoTopUpOpen] = useState(back === 'saved')
  const may = usePermissions()
  // Credit and its alerts belong to the account.
  const isOfAccount = account?.session?.project === null
  const mayPay = isOfAccount && may('billing.manage')
  const need = useNeed('billing.manage')
  return (
    <Page>
      <PageHeader
        title="Billing"
        description="Credit of this account: what is left, how to get more, and what changed it."
        actions={
          <>
            {may('usage.read') && (
              <Link to="/billing/statements" className={buttonClass()}>
                Statements
              </Link>
            )}
            {mayPay && (
              <Link to="/billing/ledger" className={buttonClass()}>
                Ledger
              </Link>
            )}
            {mayPay && (
              <Button icon="card" onClick={() => setIsAutoTopUpOpen(true)}>
                Automatic top-up
              </Button>
            )}
            {isOfAccount && may('usage.read') && (
              <Button icon="warn" onClick={() => setAreAlertsOpen(true)}>
                Budget alerts
              </Button>
            )}
          </>
        }
      />
      {back && back !== 'saved' && (
        <p
          role="status"
          className="flex items-center gap-3 rounded-lg border border-line bg-surface px-4 py-2 text-sm"
        >
          <Icon name={back === 'paid' ? 'check' : 'info'} className="text-accent" />
          <span className="grow">
            {back === 'paid'
              ? 'Thank you. The payment and its state are in the history below.'
              : 'The checkout was cancelled. Nothing was charged.'}
          </span>
          <Button kind="quiet" onClick={() => void navigate({ search: {}, replace: true })}>
            Dismiss
          </Button>
        </p>
      )}
      <AlertNotices />
      <AnomalyNotice />
      <BudgetSection />
      {mayPay && (
        <div className="grid gap-6 lg:grid-cols-2">
          <TopUpSection />
          <PromoSection />
        </div>
      )}
      {account && !mayPay ? (
        <p className="text-sm text-ink-soft">
          {isOfAccount
            ? `${may('usage.read') ? 'Top-ups, promo codes, the ledger' : 'The balance, alerts, top-ups, promo codes'} and the history of payments need ${need}.`
            : 'Credit belongs to the account, so that top-ups, promo codes and payments are not a part of a project.'}
        </p>
      ) : (
        mayPay && <PaymentHistory />
      )}
      {mayPay && isAutoTopUpOpen && (
        <AutoTopUpSheet
          onClose={() => {
            setIsAutoTopUpOpen(false)
            if (back === 'saved') void navigate({ search: {}, replace: true })
          }}
        />
      )}
      {areAlertsOpen && <AlertsSheet onClose={() => setAreAlertsOpen(false)} />}
    </Page>
  )
}
