import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { createRun } from '../../api/compare.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { TextArea } from '../../ui/forms/text-area.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { ArenaRound } from './arena-round.tsx'
import { ModelLanes, useChatModels } from './model-lanes.tsx'

interface ArenaProps {
  readonly roundId: string | undefined
  readonly onRound: (id: string | undefined) => void
}

/** One key votes for each answer. */
const LANES_MAX = 9

/** One prompt, several models, and a vote before their names are shown. */
export function Arena({ roundId, onRound }: ArenaProps) {
  const choices = useChatModels()
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [prompt, setPrompt] = useState('')
  const models = chosen.length > 0 ? chosen : choices.slice(0, 2).map(({ value }) => value)
  const begin = useMutation({
    mutationFn: () =>
      createRun({ name: `Arena: ${prompt}`.slice(0, 200), prompt, models: [...models], blind: true }),
    onSuccess: ({ id }) => onRound(id),
  })
  const submit = (): void => {
    if (prompt.trim() !== '' && models.length > 1 && !begin.isPending) begin.mutate()
  }
  return (
    <div className="flex flex-col gap-4">
      <Section>
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
        >
          <ModelLanes models={models} onChange={setChosen} countMax={LANES_MAX} />
          <TextArea
            label="Prompt"
            value={prompt}
            onChange={setPrompt}
            hint="Ctrl + Enter asks all models. Their answers come without names, in a random order."
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
            }}
          />
          <div>
            <Button
              type="submit"
              kind="primary"
              icon="play"
              isBusy={begin.isPending}
              disabled={prompt.trim() === '' || models.length < 2}
            >
              Ask all
            </Button>
          </div>
        </form>
      </Section>
      {begin.error && <ErrorPanel title="The round did not begin" error={begin.error} />}
      {roundId !== undefined && <ArenaRound key={roundId} runId={roundId} />}
    </div>
  )
}
