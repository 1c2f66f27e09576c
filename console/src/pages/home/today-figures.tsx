import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { accountQuery } from '../../api/account.ts'
import { useReach } from '../../api/permissions.ts'
import { usageTodayQuery } from '../../api/usage.ts'
import { Sparkline } from '../../ui/data/sparkline.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatCount, formatShare, formatShortCount } from '../../ui/format/format-count.ts'
import { describeChange } from '../../ui/format/describe-change.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Figure } from '../../ui/text/figure.tsx'

const BEFORE = 'yesterday until this time'
const NOTHING_BEFORE = 'Nothing yesterday until this time'

/** Balance, requests, spending and tokens of today. */
export function TodayFigures() {
  const account = useQuery(accountQuery)
  const today = useQuery(usageTodayQuery)
  const failed = [account, today].find(({ error }) => error !== null)
  if (failed?.error)
    return (
      <ErrorPanel
        title="The figures of today could not be loaded"
        error={failed.error}
        onRetry={() => void failed.refetch()}
      />
    )
  const hours = today.data?.hours ?? []
  return (
    <div className="grid grid-cols-1 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-2 lg:grid-cols-4">
      <Cell>
        <BalanceFigure account={account.data} summary={today.data?.outlook.summary} />
      </Cell>
      <Cell>
        <Figure
          label="Spent today"
          value={today.data && formatUsd(today.data.cost_usd)}
          note={today.data && (describeChange(today.data.change.cost_usd, BEFORE) ?? NOTHING_BEFORE)}
        >
          <Sparkline label="Spend by hour" values={hours.map(({ cost_usd }) => cost_usd)} />
        </Figure>
      </Cell>
      <Cell>
        <Figure
          label="Requests today"
          value={today.data && formatCount(today.data.requests)}
          note={today.data && (describeChange(today.data.change.requests, BEFORE) ?? NOTHING_BEFORE)}
        >
          <Sparkline label="Requests by hour" values={hours.map(({ requests }) => requests)} />
        </Figure>
      </Cell>
      <Cell>
        <Figure
          label="Tokens today"
          value={today.data && formatShortCount(today.data.total_tokens)}
          note={today.data && describeCache(today.data.cache_hit_rate)}
        >
          <Sparkline label="Tokens by hour" values={hours.map(({ total_tokens }) => total_tokens)} />
        </Figure>
      </Cell>
    </div>
  )
}

interface BalanceFigureProps {
  readonly account: { readonly balance_usd: number | null } | undefined
  /** What ends spending first. The page Billing has the same sentence. */
  readonly summary: string | undefined
}

function BalanceFigure({ account, summary }: BalanceFigureProps) {
  const balanceUsd = account?.balance_usd
  if (balanceUsd === null) return <OwnFigures />
  return (
    <Figure
      label="Balance"
      value={balanceUsd === undefined ? undefined : formatUsd(balanceUsd)}
      note={summary}
    />
  )
}

/** Who reads only a part of the account sees which one, instead of the balance. */
function OwnFigures() {
  const reach = useReach('usage.read')
  const note = {
    account: 'The balance needs more rights',
    project: 'The credit belongs to the account',
    session: 'Those of the account need the permission usage.read',
    key: 'Those of the account need the scope manage',
  }[reach]
  return <Figure label="Figures of" value={`This ${reach}`} note={note} />
}

function Cell({ children }: { readonly children: ReactNode }) {
  return <div className="bg-surface p-4">{children}</div>
}

function describeCache(rate: number | null): string {
  return rate === null ? 'No cached input' : `${formatShare(rate)} of input from a cache`
}
