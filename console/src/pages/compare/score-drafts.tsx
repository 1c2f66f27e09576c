import type { RunOrder } from '../../api/compare.ts'
import { Button } from '../../ui/forms/button.tsx'
import { IconButton } from '../../ui/forms/icon-button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'

type ScoreOrder = NonNullable<RunOrder['scores']>[number]

const TYPES = [
  { value: 'exact', label: 'equals', hint: 'Empty: what the prompt expects' },
  { value: 'contains', label: 'contains', hint: 'Empty: what the prompt expects' },
  { value: 'similarity', label: 'is similar to', hint: 'Empty: what the prompt expects' },
  { value: 'regex', label: 'matches the pattern', hint: 'A regular expression' },
  { value: 'json_schema', label: 'fits the JSON schema', hint: '{"type":"object"}' },
  { value: 'latency', label: 'takes at most (ms)', hint: '2000' },
  { value: 'cost', label: 'costs at most (USD)', hint: '0.001' },
  { value: 'webhook', label: 'is scored by a webhook', hint: 'https://example.com/score' },
] as const

type ScoreType = (typeof TYPES)[number]['value']

/** A score as it is entered. */
export interface ScoreDraft {
  readonly type: ScoreType
  readonly value: string
}

interface ScoreDraftsProps {
  readonly scores: readonly ScoreDraft[]
  readonly onChange: (scores: readonly ScoreDraft[]) => void
}

const SCORES_MAX = 10

/** What each answer of a run is scored by. */
export function ScoreDrafts({ scores, onChange }: ScoreDraftsProps) {
  const change = (index: number, changed: Partial<ScoreDraft>): void =>
    onChange(scores.map((score, at) => (at === index ? { ...score, ...changed } : score)))
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1 text-xs font-medium text-ink-soft">Scores: the answer …</legend>
      {scores.map((score, index) => (
        <div key={index} className="flex items-center gap-2">
          <SelectField
            label={`Score ${index + 1}`}
            isLabelHidden
            value={score.type}
            choices={TYPES}
            onChange={(type) => change(index, { type })}
            className="w-52 shrink-0 max-sm:w-40"
          />
          <TextField
            label={`Value of score ${index + 1}`}
            isLabelHidden
            placeholder={TYPES.find(({ value }) => value === score.type)?.hint ?? ''}
            value={score.value}
            onChange={(value) => change(index, { value })}
            className="min-w-0 grow"
          />
          <IconButton
            icon="close"
            label={`Remove score ${index + 1}`}
            onClick={() => onChange(scores.toSpliced(index, 1))}
          />
        </div>
      ))}
      {scores.length < SCORES_MAX && (
        <div>
          <Button icon="plus" onClick={() => onChange([...scores, { type: 'contains', value: '' }])}>
            Add a score
          </Button>
        </div>
      )}
    </fieldset>
  )
}

/** As the API takes them. Throws for a schema that is no JSON. */
export function toScores(drafts: readonly ScoreDraft[]): ScoreOrder[] {
  const counts = new Map<ScoreType, number>()
  return drafts.map((draft) => {
    const count = (counts.get(draft.type) ?? 0) + 1
    counts.set(draft.type, count)
    return { ...toScore(draft), ...(count > 1 && { name: `${draft.type} ${count}` }) }
  })
}

function toScore({ type, value }: ScoreDraft): ScoreOrder {
  switch (type) {
    case 'exact':
    case 'contains':
    case 'similarity':
      return { type, ...(value !== '' && { value }) }
    case 'regex':
      return { type, value }
    case 'json_schema':
      return { type, schema: JSON.parse(value) as Record<string, unknown> }
    case 'latency':
      return { type, max_ms: Number(value) }
    case 'cost':
      return { type, max_usd: Number(value) }
    case 'webhook':
      return { type, url: value }
  }
}
