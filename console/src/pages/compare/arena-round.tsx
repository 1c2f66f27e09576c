import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import {
  cellsQuery,
  isUnderWay,
  runQuery,
  voteOnPrompt,
  type CompareCell,
  type Outcome,
} from '../../api/compare.ts'
import { nameOfCell, useRunTexts } from '../../api/run-texts.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { showFailure } from '../../ui/overlays/toasts.tsx'
import { ArenaAnswer } from './arena-answer.tsx'

interface Vote {
  readonly laneId: string
  readonly outcome: Outcome
}

/** The answers of one round, and the vote. */
export function ArenaRound({ runId }: { readonly runId: string }) {
  const queryClient = useQueryClient()
  const run = useQuery(runQuery(runId))
  const isRunning = run.data === undefined || isUnderWay(run.data)
  const cells = useQuery(cellsQuery(runId, isRunning))
  const texts = useRunTexts(runId, isRunning)
  const [voted, setVoted] = useState<Vote | null>(null)
  const vote = useMutation({
    mutationFn: ({ laneId, outcome }: Vote) => voteOnPrompt(runId, laneId, outcome),
    onSuccess: (_, given) => {
      setVoted(given)
      void queryClient.invalidateQueries({ queryKey: ['compare'] })
    },
    onError: (error) => showFailure('The vote was not counted', error),
  })
  const answers = cells.data?.cells ?? []
  // Names are shown as soon as this key has voted, also in an earlier visit.
  const isNamed = answers.some(({ model }) => model !== '')
  const canVote =
    !isRunning && !isNamed && !vote.isPending && answers.some(({ status }) => status === 'completed')
  const give = (index: number, outcome: Outcome): void => {
    const laneId = answers[index]?.lane_id
    if (canVote && laneId !== undefined) vote.mutate({ laneId, outcome })
  }
  useVotingKeys(canVote, give)
  if (run.error) return <ErrorPanel title="The round could not be loaded" error={run.error} />
  if (cells.isPending) return <SkeletonRows />
  return (
    <section aria-label="Answers" className="flex flex-col gap-4">
      <div className="grid grid-cols-[repeat(auto-fit,minmax(280px,1fr))] gap-4">
        {answers.map((cell, index) => (
          <ArenaAnswer
            key={isNamed ? cell.model + cell.lane_id : cell.lane_id}
            cell={cell}
            text={texts.get(nameOfCell(cell))}
            position={index + 1}
            isWinner={isNamed && isWinnerOf(run.data?.lanes, cell, voted)}
            onVote={canVote && cell.status === 'completed' ? () => give(index, 'winner') : undefined}
          />
        ))}
      </div>
      <div role="status" className="flex flex-wrap items-center gap-2 text-sm text-ink-soft">
        {isRunning && 'The models are answering.'}
        {isNamed && 'Your vote counts in the leaderboard. Ask again for the next round.'}
        {canVote && (
          <>
            Which answer is best? Press its number, or
            <Button onClick={() => give(0, 'tie')}>Tie (T)</Button>
            <Button onClick={() => give(0, 'both_bad')}>All bad (B)</Button>
          </>
        )}
      </div>
    </section>
  )
}

function isWinnerOf(
  lanes: readonly { readonly id: string; readonly wins: number }[] | undefined,
  cell: CompareCell,
  voted: Vote | null,
): boolean {
  if (voted !== null && voted.outcome !== 'winner') return false
  return lanes?.some(({ id, wins }) => id === cell.lane_id && wins > 0) ?? false
}

/** Keys 1 to 9 vote for an answer, T for a tie, B for all bad. Keys that are typed into a field do not vote. */
function useVotingKeys(isOn: boolean, give: (index: number, outcome: Outcome) => void): void {
  useEffect(() => {
    if (!isOn) return
    const onKey = (event: KeyboardEvent): void => {
      const { target, key } = event
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (target instanceof HTMLElement && target.closest('input, textarea, select')) return
      if (/^[1-9]$/.test(key)) give(Number(key) - 1, 'winner')
      else if (key.toLowerCase() === 't') give(0, 'tie')
      else if (key.toLowerCase() === 'b') give(0, 'both_bad')
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
}
