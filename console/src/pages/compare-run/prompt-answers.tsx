import type { CompareCell, ComparePrompt, CompareRun, Outcome } from '../../api/compare.ts'
import { Button } from '../../ui/forms/button.tsx'
import { nameOfPrompt, type AnsweredPrompt } from './filter-prompts.ts'
import { LaneAnswer } from './lane-answer.tsx'

interface PromptAnswersProps {
  readonly run: CompareRun
  readonly answered: AnsweredPrompt<CompareCell>
  readonly prompt: ComparePrompt | undefined
  readonly hasMarks: boolean
  /** The lane that this key voted for since the page was opened, or the kind of tie. */
  readonly voted: string | undefined
  readonly onVote: ((laneId: string, outcome: Outcome) => void) | undefined
  readonly onOpen: (cell: CompareCell) => void
}

/** One prompt: the answers of all lanes side by side, and what the judge said about them. */
export function PromptAnswers(props: PromptAnswersProps) {
  const { run, answered, prompt, hasMarks, voted, onVote, onOpen } = props
  const { promptIndex, repeat } = answered
  const cells = answersInOrder(run, answered.cells)
  const nameOf = (laneId: string): string =>
    run.lanes.find(({ id }) => id === laneId)?.name ??
    `Answer ${cells.findIndex((cell) => cell.lane_id === laneId) + 1}`
  const title = `Prompt ${promptIndex + 1}${run.repeats > 1 ? `, repeat ${repeat + 1}` : ''}`
  const anyLane = cells[0]?.lane_id
  return (
    <section
      aria-label={title}
      data-prompt={nameOfPrompt(answered)}
      tabIndex={-1}
      className="flex scroll-mt-20 flex-col gap-3 rounded-lg border border-line p-4"
    >
      <header className="flex flex-wrap items-start justify-between gap-2">
        <h3 className="min-w-0 text-sm">
          <span className="text-ink-faint">{title}</span>{' '}
          <span className="font-medium break-words whitespace-pre-wrap">
            {prompt?.text}
            {prompt?.is_cut && '…'}
          </span>
        </h3>
        {onVote && anyLane !== undefined && (
          <span className="flex gap-1">
            <Button
              kind="quiet"
              aria-pressed={voted === 'tie'}
              aria-keyshortcuts="t"
              onClick={() => onVote(anyLane, 'tie')}
            >
              Tie
            </Button>
            <Button
              kind="quiet"
              aria-pressed={voted === 'both_bad'}
              aria-keyshortcuts="b"
              onClick={() => onVote(anyLane, 'both_bad')}
            >
              All bad
            </Button>
          </span>
        )}
      </header>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(260px,1fr))] gap-3">
        {cells.map((cell, index) => (
          <LaneAnswer
            key={cell.lane_id}
            cell={cell}
            name={nameOf(cell.lane_id)}
            position={index + 1}
            comparedWith={hasMarks ? otherAnswer(cells, index) : null}
            isChosen={voted === cell.lane_id}
            onVote={onVote && cell.status === 'completed' ? () => onVote(cell.lane_id, 'winner') : undefined}
            onOpen={() => onOpen(cell)}
          />
        ))}
      </div>
      <Judgements prompt={prompt} repeat={repeat} nameOf={nameOf} />
    </section>
  )
}

/** In the order of the lanes. While lanes are hidden, as the results have them. */
export function answersInOrder({ lanes }: CompareRun, cells: readonly CompareCell[]): readonly CompareCell[] {
  if (cells.some(({ model }) => model === '')) return cells
  return lanes.flatMap(({ id }) => cells.find((cell) => cell.lane_id === id) ?? [])
}

/** Each answer is compared with the first one, and the first one with the second. */
function otherAnswer(cells: readonly CompareCell[], index: number): string | null {
  return cells[index === 0 ? 1 : 0]?.output ?? null
}

interface JudgementsProps {
  readonly prompt: ComparePrompt | undefined
  readonly repeat: number
  readonly nameOf: (laneId: string) => string
}

function Judgements({ prompt, repeat, nameOf }: JudgementsProps) {
  const said = prompt?.judgements.filter((judgement) => judgement.repeat === repeat) ?? []
  if (said.length === 0) return null
  return (
    <ul aria-label="What the judge said" className="flex flex-col gap-1 text-xs text-ink-soft">
      {said.map(({ lane_ids: laneIds, preferred_lane_id: preferred, score, reason, error }) => (
        <li key={laneIds.join(' ')} className="break-words">
          <span className="font-medium text-ink">
            {error !== null
              ? `${laneIds.map(nameOf).join(' against ')}: not judged`
              : score !== null
                ? `${laneIds.map(nameOf).join('')}: ${score}`
                : preferred === null
                  ? `${laneIds.map(nameOf).join(' and ')}: a tie`
                  : `${nameOf(preferred)} before ${laneIds
                      .filter((id) => id !== preferred)
                      .map(nameOf)
                      .join('')}`}
          </span>{' '}
          {error?.message ?? reason}
        </li>
      ))}
    </ul>
  )
}
