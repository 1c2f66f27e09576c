import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { createDataset, createRun, datasetsQuery } from '../../api/compare.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { SelectField } from '../../ui/forms/select-field.tsx'
import { TextArea } from '../../ui/forms/text-area.tsx'
import { TextField } from '../../ui/forms/text-field.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { ModelLanes, useChatModels } from './model-lanes.tsx'

const LANES_MAX = 10

/** Prompts or a dataset, models, and a limit of the cost. */
export function NewRunDialog({ onClose }: { readonly onClose: () => void }) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const choices = useChatModels()
  const datasets = useQuery(datasetsQuery)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [name, setName] = useState('')
  const [text, setText] = useState('')
  const [datasetId, setDatasetId] = useState('')
  const [datasetName, setDatasetName] = useState('')
  const [budget, setBudget] = useState('1')
  const [repeats, setRepeats] = useState('1')
  const [judge, setJudge] = useState('')
  const models = chosen.length > 0 ? chosen : choices.slice(0, 2).map(({ value }) => value)
  const prompts = text.split('\n').filter((line) => line.trim() !== '')
  const create = useMutation({
    mutationFn: async () => {
      const made = datasetId === '' && datasetName !== '' ? await createDataset(datasetName, prompts) : null
      const source = made?.id ?? datasetId
      return createRun({
        ...(name !== '' && { name }),
        ...(source === '' ? { prompts } : { dataset_id: source }),
        models: [...models],
        repeats: Number(repeats),
        budget_usd: budget.trim() === '' ? null : Number(budget),
        ...(judge !== '' && { judge: { model: judge } }),
      })
    },
    onSuccess: ({ id }) => {
      void queryClient.invalidateQueries({ queryKey: ['compare'] })
      void navigate({ to: '/compare/$id', params: { id } })
    },
  })
  const isReady = datasetId !== '' || prompts.length > 0
  return (
    <Dialog
      title="New run"
      isWide
      isOpen
      onClose={onClose}
      actions={
        <Button
          kind="primary"
          icon="play"
          isBusy={create.isPending}
          disabled={!isReady}
          onClick={() => create.mutate()}
        >
          Start the run
        </Button>
      }
    >
      <TextField label="Name" value={name} onChange={setName} hint="The models unless told." />
      <ModelLanes models={models} onChange={setChosen} countMax={LANES_MAX} />
      <SelectField
        label="Prompts"
        value={datasetId}
        choices={[
          { value: '', label: 'Written below' },
          ...(datasets.data ?? []).map((dataset) => ({
            value: dataset.id,
            label: `${dataset.name} (${dataset.prompts_total} prompts)`,
          })),
        ]}
        onChange={setDatasetId}
      />
      {datasetId === '' && (
        <>
          <TextArea label="One prompt a line" rows={5} value={text} onChange={setText} />
          <TextField
            label="Keep them as a dataset named"
            value={datasetName}
            onChange={setDatasetName}
            hint="Runs of one dataset can be compared with each other. Empty: they are not kept."
          />
        </>
      )}
      <div className="grid grid-cols-3 gap-4 max-sm:grid-cols-1">
        <TextField label="Repeats" inputMode="numeric" value={repeats} onChange={setRepeats} hint="1 to 10" />
        <TextField label="Budget (USD)" inputMode="decimal" value={budget} onChange={setBudget} />
        <SelectField
          label="Judge"
          value={judge}
          choices={[{ value: '', label: 'none' }, ...choices]}
          onChange={setJudge}
        />
      </div>
      {create.error && <ErrorPanel title="The run was not created" error={create.error} />}
    </Dialog>
  )
}
