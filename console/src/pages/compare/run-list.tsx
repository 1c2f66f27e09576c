import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { runListQuery, type CompareRun } from '../../api/compare.ts'
import { DataTable, type Column } from '../../ui/data/data-table.tsx'
import { nextPages } from '../../ui/data/next-pages.ts'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SearchField } from '../../ui/forms/search-field.tsx'
import { RunState } from '../../ui/text/run-state.tsx'
import { Time } from '../../ui/text/time.tsx'
import { NewRunDialog } from './new-run-dialog.tsx'

interface RunListProps {
  /** Part of the name of a run, or of one of its models. */
  readonly search: string
  readonly onSearch: (text: string) => void
}

/** All runs of the account. */
export function RunList({ search, onSearch }: RunListProps) {
  const runs = useInfiniteQuery(runListQuery(search))
  const navigate = useNavigate()
  const [isMaking, setIsMaking] = useState(false)
  const rows = runs.data?.pages.flatMap(({ data }) => data) ?? []
  const make = (
    <Button kind="primary" icon="plus" onClick={() => setIsMaking(true)}>
      New run
    </Button>
  )
  return (
    <div className="flex flex-col gap-4">
      {(rows.length > 0 || search !== '') && (
        <div className="flex flex-wrap items-center gap-3">
          {make}
          <SearchField
            label="Name or model"
            className="w-64 max-sm:w-full"
            value={search}
            onChange={onSearch}
          />
        </div>
      )}
      {runs.isPending && <SkeletonRows />}
      {runs.error && (
        <ErrorPanel title="Runs could not be loaded" error={runs.error} onRetry={() => void runs.refetch()} />
      )}
      {rows.length > 0 && (
        <DataTable
          label="Runs"
          tools={{ id: 'runs' }}
          columns={COLUMNS}
          rows={rows}
          rowId={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: '/compare/$id', params: { id } })}
          {...nextPages(runs)}
        />
      )}
      {runs.isSuccess && rows.length === 0 && search !== '' && (
        <EmptyState
          icon="search"
          title="No run fits"
          action={<Button onClick={() => onSearch('')}>Show all runs</Button>}
        >
          Neither the name nor a model of a run contains “{search}”.
        </EmptyState>
      )}
      {runs.isSuccess && rows.length === 0 && search === '' && (
        <EmptyState icon="compare" title="No runs yet" action={make}>
          A run asks several models a list of prompts or a dataset, and measures quality, speed and cost.
        </EmptyState>
      )}
      {isMaking && <NewRunDialog onClose={() => setIsMaking(false)} />}
    </div>
  )
}

const COLUMNS: Column<CompareRun>[] = [
  {
    id: 'name',
    header: 'Name',
    value: ({ name }) => name,
    render: ({ id, name }) => (
      <Link to="/compare/$id" params={{ id }} className="font-medium hover:underline">
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'State',
    value: ({ status }) => status,
    width: '112px',
    render: ({ status }) => <RunState status={status} />,
  },
  {
    id: 'models',
    header: 'Models',
    value: ({ models }) => models.join(', '),
    isMinor: true,
    render: ({ models }) => models.join(', '),
  },
  {
    id: 'cells',
    header: 'Answers',
    value: ({ cells_done: done }) => done,
    width: '104px',
    align: 'right',
    isMinor: true,
    render: ({ cells_done: done, cells_total: total }) => `${done} of ${total}`,
  },
  {
    id: 'cost',
    header: 'Cost',
    value: ({ cost_usd: usd }) => usd,
    width: '96px',
    align: 'right',
    render: ({ cost_usd: cost }) => formatUsd(cost),
  },
  {
    id: 'created',
    header: 'Created',
    value: ({ created_at: at }) => at,
    width: '120px',
    align: 'right',
    isMinor: true,
    render: ({ created_at: at }) => <Time at={at} />,
  },
]
