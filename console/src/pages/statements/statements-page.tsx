import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { statementFileUrl, statementsQuery, type StatementSummary } from '../../api/statements.ts'
import type { Column } from '../../ui/data/data-table.tsx'
import { PagedTable } from '../../ui/data/paged-table.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { formatMonth } from '../../ui/format/format-time.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { buttonClass } from '../../ui/forms/button.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Badge } from '../../ui/text/badge.tsx'
import { FileLink } from '../../ui/text/file-link.tsx'

/** The months of the account. */
export function StatementsPage() {
  const months = useInfiniteQuery(statementsQuery())
  return (
    <Page>
      <PageHeader
        title="Statements"
        description="What changed the credit in each month of UTC. A closed statement has a number and never changes."
        actions={
          <Link to="/billing" className={buttonClass('quiet')}>
            Billing
          </Link>
        }
      />
      <PagedTable
        label="Statements"
        tools={{ id: 'statements' }}
        query={months}
        columns={COLUMNS}
        rowId={({ id }) => id}
        empty={<EmptyState icon="card" title="No month yet" />}
      />
    </Page>
  )
}

const COLUMNS: readonly Column<StatementSummary>[] = [
  {
    id: 'month',
    value: ({ month }) => month,
    header: 'Month',
    render: ({ month }) => (
      <Link to="/billing/statements/$month" params={{ month }} className="font-medium text-accent underline">
        {formatMonth(month)}
      </Link>
    ),
  },
  {
    id: 'number',
    value: ({ number }) => number,
    header: 'Number',
    width: '136px',
    render: ({ number, status }) =>
      status === 'open' ? <Badge tone="accent">open</Badge> : (number ?? 'nothing moved'),
  },
  {
    id: 'opening',
    value: ({ balance }) => balance?.opening_balance.usd,
    header: 'Opening balance',
    width: '144px',
    align: 'right',
    isMinor: true,
    render: ({ balance }) => formatBalance(balance?.opening_balance),
  },
  {
    id: 'charged',
    value: ({ charged }) => charged.usd,
    header: 'Charged',
    width: '120px',
    align: 'right',
    render: ({ charged }) => formatUsd(charged.usd),
  },
  {
    id: 'closing',
    value: ({ balance }) => balance?.closing_balance.usd,
    header: 'Closing balance',
    width: '144px',
    align: 'right',
    isMinor: true,
    render: ({ balance }) => formatBalance(balance?.closing_balance),
  },
  {
    id: 'files',
    isAction: true,
    width: '120px',
    align: 'right',
    isMinor: true,
    render: ({ month }) => (
      <span className="inline-flex gap-3">
        <FileLink href={statementFileUrl({ month }, 'pdf')} label={`PDF of ${month}`}>
          PDF
        </FileLink>
        <FileLink href={statementFileUrl({ month }, 'csv')} label={`CSV of ${month}`}>
          CSV
        </FileLink>
      </span>
    ),
  },
]

/** Credit belongs to the account, so that a project has no balance. */
function formatBalance(balance: { readonly usd: number } | undefined): string {
  return balance === undefined ? 'of the account' : formatUsd(balance.usd)
}
