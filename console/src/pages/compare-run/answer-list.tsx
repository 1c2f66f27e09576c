import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import {
  isUnderWay,
  voteOnPrompt,
  type CompareCell,
  type ComparePrompt,
  type CompareRun,
  type Outcome,
} from '../../api/compare.ts'
import { formatCountOf } from '../../ui/format/format-count.ts'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { SwitchField } from '../../ui/forms/switch-field.tsx'
import { showFailure } from '../../ui/overlays/toasts.tsx'
import {
  filterPrompts,
  groupByPrompt,
  nameOfPrompt,
  PROMPT_FILTERS,
  type PromptFilter,
} from './filter-prompts.ts'
import { answersInOrder, PromptAnswers } from './prompt-answers.tsx'

interface AnswerListProps {
  readonly run: CompareRun
  readonly cells: readonly CompareCell[]
  /** By their position. */
  readonly prompts: ReadonlyMap<number, ComparePrompt>
  readonly filter: PromptFilter
  readonly onFilter: (filter: PromptFilter) => void
  readonly onOpen: (cell: CompareCell) => void
}

/** Prompts that are shown at first, and with each further step. */
const PROMPTS_AT_ONCE = 25

/** All answers, prompt after prompt, with the lanes side by side. */
export function AnswerList({ run, cells, prompts, filter, onFilter, onOpen }: AnswerListProps) {
  const list = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState(PROMPTS_AT_ONCE)
  const [hasMarks, setHasMarks] = useState(false)
  const [votes, castVote] = useVotes(run)
  const found = useMemo(() => filterPrompts(groupByPrompt(cells), filter, run), [cells, filter, run])
  useReadingKeys(list, (name, key) => {
    const answered = found.find((each) => nameOfPrompt(each) === name)
    if (answered === undefined || isUnderWay(run)) return
    const [first, ...others] = answersInOrder(run, answered.cells)
    if (first === undefined) return
    const cell = /^[1-9]$/.test(key) ? [first, ...others][Number(key) - 1] : undefined
    if (cell?.status === 'completed') castVote({ ...answered, laneId: cell.lane_id, outcome: 'winner' })
    else if (key === 't') castVote({ ...answered, laneId: first.lane_id, outcome: 'tie' })
    else if (key === 'b') castVote({ ...answered, laneId: first.lane_id, outcome: 'both_bad' })
  })
  return (
    <div ref={list} className="relative flex flex-col gap-4">
      <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
        <SelectField
          label="Prompts"
          value={filter}
          choices={PROMPT_FILTERS}
          onChange={onFilter}
          className="w-56 max-sm:w-full"
        />
        <SwitchField label="Mark differences" isOn={hasMarks} onChange={setHasMarks} />
        <span className="tabular text-xs text-ink-faint">
          {formatCountOf(found.length, 'prompt')}. Keys: J and K go to the next prompt and to the one before
          {isUnderWay(run) ? '.' : '; 1 to 9 vote for an answer of it, T for a tie, B for all bad.'}
        </span>
      </div>
      {found.length === 0 && <p className="text-sm text-ink-soft">There is no such prompt.</p>}
      {found.slice(0, shown).map((answered) => {
        const name = nameOfPrompt(answered)
        return (
          <PromptAnswers
            key={name}
            run={run}
            answered={answered}
            prompt={prompts.get(answered.promptIndex)}
            hasMarks={hasMarks}
            voted={votes.get(name)}
            onVote={
              isUnderWay(run) ? undefined : (laneId, outcome) => castVote({ ...answered, laneId, outcome })
            }
            onOpen={onOpen}
          />
        )
      })}
      {found.length > shown && (
        <div>
          <Button onClick={() => setShown(shown + PROMPTS_AT_ONCE)}>
            Show {Math.min(PROMPTS_AT_ONCE, found.length - shown)} more
          </Button>
        </div>
      )}
    </div>
  )
}

interface GivenVote {
  readonly promptIndex: number
  readonly repeat: number
  readonly laneId: string
  readonly outcome: Outcome
}

/** What was voted since the page was opened, by prompt and repeat: a lane, or the kind of tie. */
function useVotes({ id, repeats }: CompareRun): [ReadonlyMap<string, string>, (vote: GivenVote) => void] {
  const queryClient = useQueryClient()
  const [votes, setVotes] = useState<ReadonlyMap<string, string>>(new Map())
  const cast = useMutation({
    mutationFn: ({ laneId, outcome, promptIndex, repeat }: GivenVote) =>
      voteOnPrompt(id, laneId, outcome, { promptIndex, repeat: repeats > 1 ? repeat : null }),
    onSuccess: ({ vote }, { promptIndex, repeat, outcome }) => {
      const name = nameOfPrompt({ promptIndex, repeat })
      setVotes((known) => new Map(known).set(name, vote.winner_lane_id ?? outcome))
      void queryClient.invalidateQueries({ queryKey: ['compare'] })
    },
    onError: (error) => showFailure('The vote was not counted', error),
  })
  return [votes, cast.mutate]
}

/** J and K go from prompt to prompt, other keys are for the prompt in focus. Keys that are typed into a field do nothing. */
function useReadingKeys(
  list: { readonly current: HTMLElement | null },
  onOther: (prompt: string, key: string) => void,
): void {
  useEffect(() => {
    const onKey = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent): void => {
      if (ctrlKey || metaKey || altKey) return
      if (!(target instanceof HTMLElement) || target.closest('input, textarea, select, [role=dialog]')) return
      const blocks = [...(list.current?.querySelectorAll<HTMLElement>('[data-prompt]') ?? [])]
      const at = blocks.findIndex((block) => block.contains(target))
      const name = blocks[at]?.dataset['prompt']
      if (key !== 'j' && key !== 'k') {
        if (name !== undefined) onOther(name, key)
        return
      }
      const next = blocks[at === -1 ? 0 : Math.max(0, at + (key === 'j' ? 1 : -1))]
      next?.focus({ preventScroll: true })
      next?.scrollIntoView({ block: 'start' })
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
}
