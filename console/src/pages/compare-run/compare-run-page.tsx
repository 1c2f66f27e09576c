import { formatCount, formatCountOf } from '../../ui/format/format-count.ts'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { cellsQuery, isUnderWay, runQuery, type CompareCell, type CompareRun } from '../../api/compare.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { ProgressBar } from '../../ui/feedback/progress-bar.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { SegmentedControl } from '../../ui/forms/segmented-control.tsx'
import { Page } from '../../ui/layout/page.tsx'
import { PageHeader } from '../../ui/layout/page-header.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { AS_DETAIL, useCloseDetail } from '../../ui/overlays/use-detail-history.ts'
import { CopyableId } from '../../ui/text/copyable-id.tsx'
import { RunState } from '../../ui/text/run-state.tsx'
import { RunActions } from './run-actions.tsx'
import { AnswerList } from './answer-list.tsx'
import { CellGrid } from './cell-grid.tsx'
import { CellSheet } from './cell-sheet.tsx'
import { describeProgress, JudgeFailures } from './judge-failures.tsx'
import { RunBatches } from './run-batches.tsx'
import { RunVerdict } from './run-verdict.tsx'
import { LaneStatistics } from './lane-statistics.tsx'
import { RunDiff } from './run-diff.tsx'

const VIEWS = [
  { value: 'beside', label: 'Side by side' },
  { value: 'grid', label: 'Grid' },
] as const

const route = getRouteApi('/shell/compare/$id')

export function CompareRunPage() {
  const { id } = route.useParams()
  const run = useQuery(runQuery(id))
  return (
    <Page>
      {run.isPending && <SkeletonRows />}
      {run.error && (
        <>
          <PageHeader title="Run" />
          <ErrorPanel
            title="The run could not be loaded"
            error={run.error}
            onRetry={() => void run.refetch()}
          />
        </>
      )}
      {run.data && <Loaded run={run.data} />}
    </Page>
  )
}

function Loaded({ run }: { readonly run: CompareRun }) {
  const { against, cell: openKey, view = 'beside', show = 'all' } = route.useSearch()
  const navigate = route.useNavigate()
  const isRunning = isUnderWay(run)
  const cells = useQuery(cellsQuery(run.id, isRunning))
  const opened = cells.data?.cells.find((cell) => keyOf(cell) === openKey)
  const open = (cell: CompareCell): void =>
    void navigate({ search: (old) => ({ ...old, cell: keyOf(cell) }), ...AS_DETAIL })
  const close = useCloseDetail(
    () => void navigate({ search: (old) => ({ ...old, cell: undefined }), replace: true }),
  )
  return (
    <>
      <PageHeader
        title={run.name}
        description={
          <span className="tabular flex flex-wrap items-center gap-x-3 gap-y-1">
            <RunState status={run.status} />
            <span>{formatCountOf(run.cells_total, 'answer')}</span>
            <span>
              {formatUsd(run.cost_usd)}
              {run.budget_usd !== null && ` of ${formatUsd(run.budget_usd)}`}
            </span>
            <CopyableId id={run.id} label="run id" isShort />
          </span>
        }
        actions={<RunActions run={run} />}
      />
      {isRunning && (
        <ProgressBar
          label={describeProgress(run)}
          percent={run.status === 'queued' ? null : run.progress}
          startedAtMs={run.started_at === null ? null : Date.parse(run.started_at)}
        />
      )}
      {run.error && (
        <p role="alert" className="rounded-lg bg-bad-soft px-4 py-3 text-sm break-words">
          {run.error.message} <span className="font-mono text-xs text-ink-soft">{run.error.code}</span>
        </p>
      )}
      <JudgeFailures run={run} />
      <RunVerdict run={run} />
      <LaneStatistics run={run} />
      <RunBatches run={run} />
      <Section
        title="Answers"
        actions={
          <SegmentedControl
            label="How answers are shown"
            value={view}
            choices={VIEWS}
            onChange={(chosen) =>
              void navigate({
                search: (old) => ({ ...old, view: chosen === 'grid' ? chosen : undefined }),
                replace: true,
              })
            }
          />
        }
      >
        {cells.isPending && <SkeletonRows count={3} />}
        {cells.error && (
          <ErrorPanel
            title="Answers could not be loaded"
            error={cells.error}
            onRetry={() => void cells.refetch()}
          />
        )}
        {cells.data && view === 'grid' && <CellGrid run={run} {...cells.data} onOpen={open} />}
        {cells.data && view === 'beside' && (
          <AnswerList
            run={run}
            {...cells.data}
            filter={show}
            onFilter={(filter) =>
              void navigate({
                search: (old) => ({ ...old, show: filter === 'all' ? undefined : filter }),
                replace: true,
              })
            }
            onOpen={open}
          />
        )}
        {cells.data && cells.data.cells.length < run.cells_total && (
          <p className="mt-3 text-xs text-ink-soft">
            The first {formatCount(cells.data.cells.length)} of {formatCount(run.cells_total)} answers. The
            export has all of them.
          </p>
        )}
      </Section>
      {(run.dataset_id !== null || against !== undefined) && (
        <RunDiff
          run={run}
          datasetId={run.dataset_id}
          against={against}
          onAgainst={(chosen) => void navigate({ search: (old) => ({ ...old, against: chosen }) })}
        />
      )}
      {opened && (
        <CellSheet cell={opened} prompt={cells.data?.prompts.get(opened.prompt_index)} onClose={close} />
      )}
    </>
  )
}

function keyOf({ prompt_index: prompt, repeat, lane_id: laneId }: CompareCell): string {
  return `${prompt + 1}.${repeat + 1}.${laneId}`
}
