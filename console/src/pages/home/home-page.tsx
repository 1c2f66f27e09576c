import { useQuery } from '@tanstack/react-query'
import { accountQuery, budgetQuery } from '../../api/account.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { Figure } from '../../ui/text/figure.tsx'

export function HomePage() {
  const account = useQuery(accountQuery)
  const budget = useQuery(budgetQuery)
  return (
    <Page>
      <PageHeader title="Home" description={account.data?.name} />
      {budget.error && (
        <ErrorPanel
          title="The balance could not be loaded"
          error={budget.error}
          onRetry={() => void budget.refetch()}
        />
      )}
      <Section>
        <Figure label="Balance" value={budget.data && formatUsd(budget.data.balance_usd)} unit="USD" />
      </Section>
    </Page>
  )
}
