import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { leaderboardQuery } from '../../api/compare.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { IntervalBar } from '../../ui/data/interval-bar.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatCount, formatCountOf, formatShare } from '../../ui/format/format-count.ts'
import { buttonClass } from '../../ui/forms/button.tsx'
import { SegmentedControl } from '../../ui/forms/segmented-control.tsx'

type Row = Schemas['CompareLeaderboard']['data'][number]

interface LeaderboardProps {
  readonly source: 'human' | 'judge' | undefined
  readonly onSource: (source: 'human' | 'judge' | undefined) => void
}

const SOURCES = [
  { value: 'all', label: 'All votes' },
  { value: 'human', label: 'People' },
  { value: 'judge', label: 'Judges' },
] as const

/** Models by the votes of this account. */
export function Leaderboard({ source, onSource }: LeaderboardProps) {
  const board = useQuery(leaderboardQuery(source))
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <SegmentedControl
          label="Whose votes"
          value={source ?? 'all'}
          choices={SOURCES}
          onChange={(chosen) => onSource(chosen === 'all' ? undefined : chosen)}
        />
        {board.data && (
          <span className="tabular text-xs text-ink-faint">{describeVotes(board.data.votes)}</span>
        )}
      </div>
      {board.isPending && <SkeletonRows />}
      {board.error && (
        <ErrorPanel
          title="The leaderboard could not be loaded"
          error={board.error}
          onRetry={() => void board.refetch()}
        />
      )}
      {board.data && board.data.data.length === 0 && (
        <EmptyState
          icon="compare"
          title="No votes yet"
          action={
            <Link to="/compare" search={{}} className={buttonClass('primary')}>
              Open the arena
            </Link>
          }
        >
          Vote for an answer in the arena, or give a run a judge. Six comparisons make an interval.
        </EmptyState>
      )}
      {board.data && board.data.data.length > 0 && (
        <>
          <p className="text-sm first-letter:uppercase">{board.data.verdict.text}</p>
          <DataTable
            label="Leaderboard"
            tools={{ id: 'leaderboard' }}
            columns={columnsFor(board.data.data)}
            rows={board.data.data}
            rowId={({ model }) => model}
          />
        </>
      )}
    </div>
  )
}

function describeVotes({ total, ties, both_bad: bothBad }: Schemas['CompareLeaderboard']['votes']): string {
  const parts = [
    formatCountOf(total, 'vote'),
    ...(ties > 0 ? [formatCountOf(ties, 'tie')] : []),
    ...(bothBad > 0 ? [`${formatCount(bothBad)} all bad`] : []),
  ]
  return parts.join(', ')
}

function columnsFor(rows: readonly Row[]): Column<Row>[] {
  const from = Math.min(...rows.map(({ rating, rating_low: low }) => low ?? rating)) - 20
  const to = Math.max(...rows.map(({ rating, rating_high: high }) => high ?? rating)) + 20
  return [
    {
      id: 'rank',
      header: 'Rank',
      value: ({ rank }) => rank,
      width: '64px',
      align: 'right',
      render: ({ rank }) => rank,
    },
    {
      id: 'model',
      header: 'Model',
      value: ({ model }) => model,
      render: ({ model }) => <span className="font-medium">{model}</span>,
    },
    {
      id: 'rating',
      header: 'Rating',
      value: ({ rating }) => rating,
      width: '80px',
      align: 'right',
      render: ({ rating }) => Math.round(rating),
    },
    {
      id: 'interval',
      header: '95 % interval',
      value: ({ rating_low: low, rating_high: high }) =>
        low === null || high === null ? null : `${Math.round(low)} to ${Math.round(high)}`,
      width: '240px',
      isMinor: true,
      render: ({ model, rating, rating_low: low, rating_high: high }) => (
        <IntervalBar
          label={`Rating of ${model}`}
          mean={rating}
          low={low}
          high={high}
          from={from}
          to={to}
          format={(value) => String(Math.round(value))}
        />
      ),
    },
    {
      id: 'rate',
      header: 'Won',
      value: ({ win_rate: rate }) => rate,
      width: '80px',
      align: 'right',
      render: ({ win_rate: rate }) => (rate === null ? '' : formatShare(rate)),
    },
    {
      id: 'record',
      header: 'Votes won, lost, tied, all bad',
      value: ({ votes }) => [votes.won, votes.lost, votes.tied, votes.both_bad].join(' / '),
      width: '216px',
      align: 'right',
      isMinor: true,
      // A vote among three is one vote, though it compares the winner with two others.
      render: ({ votes }) => [votes.won, votes.lost, votes.tied, votes.both_bad].join(' / '),
    },
  ]
}
