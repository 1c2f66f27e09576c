import type { CompareCell, ComparePrompt, CompareRun } from '../../api/compare.ts'
import { classNames } from '../../ui/class-names.ts'
import { FixedTable } from '../../ui/data/fixed-table.tsx'
import { formatDuration } from '../../ui/format/format-duration.ts'

interface CellGridProps {
  readonly run: CompareRun
  readonly cells: readonly CompareCell[]
  /** By their position. */
  readonly prompts: ReadonlyMap<number, ComparePrompt>
  readonly onOpen: (cell: CompareCell) => void
}

const LOOKS: Readonly<Record<CompareCell['status'], string>> = {
  pending: 'bg-sunken text-ink-faint',
  running: 'bg-accent-soft text-accent',
  completed: 'bg-good-soft text-good',
  failed: 'bg-bad-soft text-bad',
}

/** Every answer of a run: a line a prompt and repeat, a column a lane. */
export function CellGrid({ run, cells, prompts, onOpen }: CellGridProps) {
  const lines = Map.groupBy(cells, ({ prompt_index: prompt, repeat }) => `${prompt + 1}.${repeat + 1}`)
  // The lanes of a blind run have another name in every prompt until there is a vote.
  const isHidden = cells.some(({ model }) => model === '')
  return (
    <FixedTable
      label="Answers"
      reason="A matrix of prompts and lanes. The export of the run has its values."
      frameClass="max-h-[60dvh] overflow-y-auto"
      className="w-full border-separate border-spacing-1 text-xs"
    >
      <thead>
        <tr>
          <th scope="col" className="text-left font-medium text-ink-soft">
            Prompt
          </th>
          {run.lanes.map((lane, index) => (
            <th key={lane.id} scope="col" className="truncate text-left font-medium text-ink-soft">
              {isHidden ? `Answer ${index + 1}` : lane.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {[...lines].map(([line, ofLine]) => (
          <tr key={line}>
            <th
              scope="row"
              className="tabular max-w-28 truncate pr-2 text-left font-normal text-ink-soft sm:max-w-72"
            >
              <span className="text-ink-faint">{run.repeats > 1 ? line : line.split('.')[0]}</span>{' '}
              {prompts.get(ofLine[0]?.prompt_index ?? -1)?.text}
            </th>
            {(isHidden ? ofLine : run.lanes.map(({ id }) => ofLine.find((cell) => cell.lane_id === id))).map(
              (cell, index) => (
                <td key={cell?.lane_id ?? index} className="p-0">
                  {cell && <CellButton cell={cell} onOpen={onOpen} />}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </FixedTable>
  )
}

function CellButton({
  cell,
  onOpen,
}: {
  readonly cell: CompareCell
  readonly onOpen: (cell: CompareCell) => void
}) {
  return (
    <button
      type="button"
      onClick={() => onOpen(cell)}
      className={classNames(
        'tabular flex h-8 w-full min-w-24 items-center justify-between gap-2 rounded px-2 text-left hover:ring-1 hover:ring-line-strong',
        cell.status === 'completed' && cell.score === 0 ? 'bg-warn-soft text-warn' : LOOKS[cell.status],
      )}
    >
      <span className="truncate">{cell.status}</span>
      <span className="shrink-0 whitespace-nowrap">
        {cell.score !== null && `score ${cell.score} · `}
        {cell.latency_ms !== null && formatDuration(cell.latency_ms)}
      </span>
    </button>
  )
}
