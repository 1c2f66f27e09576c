import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { usePermissions } from '../api/permissions.ts'
import { projectModelsQuery, setProjectModels, type ModelMode } from '../api/project-models.ts'
import { ModelChecklist } from '../keys/model-choice.tsx'
import { ErrorPanel } from '../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../ui/feedback/skeleton.tsx'
import { Button } from '../ui/forms/button.tsx'
import { SelectField } from '../ui/forms/select-field.tsx'
import { FormDialog } from '../ui/overlays/form-dialog.tsx'
import type { ProjectPartProps } from './project-part.ts'

/** What may be chosen, in words. An empty `deny_list` denies nothing. */
const CHOICES = [
  { value: 'all', label: 'Every model' },
  { value: 'allow_list', label: 'Only some models' },
  { value: 'deny_list', label: 'Every model but some' },
] as const

type Choice = (typeof CHOICES)[number]['value']

/** Which models the project may use. Only sessions of the account change it. */
export function ProjectModels({ id, isActive, isOfAccount }: ProjectPartProps) {
  const may = usePermissions()
  const [isOpen, setIsOpen] = useState(false)
  const models = useQuery(projectModelsQuery(id))
  if (models.error) return <ErrorPanel title="The models could not be loaded" error={models.error} />
  if (models.isPending) return <SkeletonRows />
  const { mode, model_ids: ids } = models.data
  const choice = choiceOf(mode, ids)
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-ink-soft">
          {choice === 'all' && 'Every key of this project may use every model that the account has.'}
          {choice === 'allow_list' && 'The keys of this project may use only these models:'}
          {choice === 'deny_list' && 'The keys of this project may use every model but these:'}
        </p>
        {isActive && isOfAccount && may('projects.manage') && (
          <Button kind="primary" onClick={() => setIsOpen(true)}>
            Change
          </Button>
        )}
      </div>
      {choice !== 'all' && (
        <ul className="grid grid-cols-1 gap-x-6 rounded-lg border border-line bg-surface px-4 py-2 sm:grid-cols-2 lg:grid-cols-3">
          {ids.map((model) => (
            <li key={model} className="truncate py-1 font-mono text-xs" title={model}>
              {model}
            </li>
          ))}
          {ids.length === 0 && <li className="py-1 text-sm text-ink-soft">None</li>}
        </ul>
      )}
      {isOpen && <ModelsDialog id={id} before={{ choice, ids }} onClose={() => setIsOpen(false)} />}
    </div>
  )
}

function choiceOf(mode: ModelMode, ids: readonly string[]): Choice {
  return mode === 'deny_list' && ids.length === 0 ? 'all' : mode
}

interface ModelsDialogProps {
  readonly id: string
  readonly before: { readonly choice: Choice; readonly ids: readonly string[] }
  readonly onClose: () => void
}

function ModelsDialog({ id, before, onClose }: ModelsDialogProps) {
  const queryClient = useQueryClient()
  const [choice, setChoice] = useState(before.choice)
  const [chosen, setChosen] = useState(before.ids)
  const work = useMutation({
    mutationFn: () =>
      choice === 'all' ? setProjectModels(id, 'deny_list', []) : setProjectModels(id, choice, chosen),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['projects', id] })
      onClose()
    },
  })
  return (
    <FormDialog
      title="Models of the project"
      action="Save"
      work={work}
      failure="The models could not be changed"
      isIncomplete={choice === 'deny_list' && chosen.length === 0}
      onClose={onClose}
    >
      <SelectField label="The project may use" value={choice} choices={CHOICES} onChange={setChoice} />
      {choice !== 'all' && <ModelChecklist chosen={chosen} onChange={setChosen} />}
    </FormDialog>
  )
}
