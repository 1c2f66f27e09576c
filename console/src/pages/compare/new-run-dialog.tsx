import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { createRun, type CompareRun } from '../../api/compare.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { LaneDrafts, newLane, toDraft, toLane, type LaneDraft } from './lane-drafts.tsx'
import { useChatModels } from './model-lanes.tsx'
import { ScoreDrafts, toScores, type ScoreDraft } from './score-drafts.tsx'
import { hasPrompts, knownPrompts, NO_PROMPTS, preparePrompts, PromptSource } from './prompt-source.tsx'
import { RunEstimate } from './run-estimate.tsx'

interface NewRunDialogProps {
  /** The run that is asked again: its prompts and scores, and its lanes to change. */
  readonly from?: CompareRun
  readonly onClose: () => void
}

const MODES = [
  { value: 'live', label: 'now, one by one' },
  { value: 'batch', label: 'as batches: within 24 hours, at the price of batches, without latency' },
]

/** Prompts or a dataset, models, and a limit of the cost. */
export function NewRunDialog({ from, onClose }: NewRunDialogProps) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const choices = useChatModels()
  const [entered, setLanes] = useState<readonly LaneDraft[]>(from?.lanes.map(toDraft) ?? [])
  const [prompts, setPrompts] = useState(NO_PROMPTS)
  const [name, setName] = useState('')
  const [budget, setBudget] = useState(from === undefined ? '1' : String(from.budget_usd ?? ''))
  const [repeats, setRepeats] = useState(String(from?.repeats ?? 1))
  const [judge, setJudge] = useState(from?.judge?.model ?? '')
  const [scores, setScores] = useState<readonly ScoreDraft[]>([])
  const [mode, setMode] = useState<'live' | 'batch'>('live')
  const lanes = entered.length > 0 ? entered : choices.slice(0, 2).map(({ value }) => newLane(value))
  const budgetUsd = budget.trim() === '' ? null : Number(budget)
  const order = {
    lanes: lanes.map(toLane),
    repeats: Number(repeats),
    ...(mode === 'batch' && { mode }),
    budget_usd: budgetUsd,
    ...chooseJudge(judge, from),
    ...(from?.blind === true && { blind: true }),
  }
  const known = from === undefined ? knownPrompts(prompts) : { run_id: from.id }
  const create = useMutation({
    mutationFn: async () =>
      createRun({
        ...order,
        ...(from === undefined && { scores: toScores(scores) }),
        ...(name !== '' && { name }),
        ...(from === undefined ? await preparePrompts(prompts) : { run_id: from.id }),
      }),
    onSuccess: ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: ['compare'] })
      void navigate({ to: '/compare/$id', params: { id }, search: { against: from?.id } })
    },
  })
  return (
    <Dialog
      title={from === undefined ? 'New run' : 'Run again'}
      description={
        from && `The prompts and scores of “${from.name}”. The difference is shown when it has ended.`
      }
      isWide
      isOpen
      onClose={onClose}
      actions={
        <Button
          kind="primary"
          icon="play"
          isBusy={create.isPending}
          disabled={from === undefined && !hasPrompts(prompts)}
          onClick={() => create.mutate()}
        >
          Start the run
        </Button>
      }
    >
      <TextField label="Name" value={name} onChange={setName} hint="Empty: it is named after the models." />
      <LaneDrafts lanes={lanes} onChange={setLanes} />
      {from === undefined && <PromptSource draft={prompts} onChange={setPrompts} />}
      <SelectField
        label="Answers"
        value={mode}
        choices={MODES}
        onChange={(value) => setMode(value === 'batch' ? 'batch' : 'live')}
      />
      <div className="grid grid-cols-3 gap-4 max-sm:grid-cols-1">
        <TextField label="Repeats" inputMode="numeric" value={repeats} onChange={setRepeats} hint="1 to 10" />
        <TextField
          label="Budget (USD)"
          inputMode="decimal"
          value={budget}
          onChange={setBudget}
          hint="Never more, with the judge"
        />
        <SelectField
          label="Judge"
          value={judge}
          choices={[{ value: '', label: 'none' }, ...choices]}
          onChange={setJudge}
        />
      </div>
      {from === undefined && <ScoreDrafts scores={scores} onChange={setScores} />}
      <RunEstimate order={known === null ? null : { ...order, ...known }} budgetUsd={budgetUsd} />
      {create.error && <ErrorPanel title="The run was not created" error={create.error} />}
    </Dialog>
  )
}

/** A run that is asked again keeps its judge with the rubric, unless another one is chosen. */
function chooseJudge(model: string, from: CompareRun | undefined) {
  if (from !== undefined && model === (from.judge?.model ?? '')) return {}
  return { judge: model === '' ? null : { model } }
}
