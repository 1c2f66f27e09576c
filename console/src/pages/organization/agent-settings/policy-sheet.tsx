import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  deleteManagedSettings,
  setManagedSettings,
  type ManagedSettings,
} from '../../../api/managed-settings.ts'
import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { SelectField, type Choice } from '../../../ui/forms/select-field.tsx'
import { TextField } from '../../../ui/forms/text-field.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { Sheet } from '../../../ui/overlays/sheet.tsx'
import { showToast } from '../../../ui/overlays/toasts.tsx'
import { readSettings } from './read-settings.ts'
import { SETTINGS_EXAMPLES, type ExampleName } from './settings-examples.ts'
import { SettingsEditor } from './settings-editor.tsx'

const EXAMPLES = Object.entries(SETTINGS_EXAMPLES).map(([value, { label }]) => ({
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table
  value: value as ExampleName,
  label,
}))
const PRIORITY_DEFAULT = 100
const PRIORITY_MAX = 1000

interface PolicySheetProps {
  /** Null for new settings. */
  readonly policy: ManagedSettings | null
  /** Whom the settings are for. */
  readonly name: string
  /** Whom new settings can be for: groups, or everybody as an empty text. */
  readonly targets: readonly Choice[]
  readonly canChange: boolean
  readonly onClose: () => void
}

/** The settings for everybody or for one group, as JSON. */
export function PolicySheet({ policy, name, targets, canChange, onClose }: PolicySheetProps) {
  const queryClient = useQueryClient()
  const [target, setTarget] = useState(policy === null ? (targets[0]?.value ?? '') : (policy.group_id ?? ''))
  const [priority, setPriority] = useState(String(policy?.priority ?? PRIORITY_DEFAULT))
  const [example, setExample] = useState<ExampleName>('empty')
  const [text, setText] = useState(() => format(policy?.settings ?? {}))
  const [isDeleting, setIsDeleting] = useState(false)
  const read = readSettings(text)
  const isOfGroup = target !== ''
  const refresh = () => queryClient.invalidateQueries({ queryKey: ['managed-settings'] })
  const saving = useMutation({
    mutationFn: async () => {
      if (read.problem !== null) throw new Error(read.problem)
      return setManagedSettings({
        group_id: isOfGroup ? target : null,
        priority: isOfGroup ? Number(priority) : null,
        settings: read.settings,
      })
    },
    onSuccess: async () => {
      await refresh()
      showToast('The settings are saved', 'Agents take them over within an hour, or at their next start.')
      onClose()
    },
  })
  return (
    <Sheet
      title={policy === null ? 'New agent settings' : `Agent settings: ${name}`}
      isOpen
      onClose={onClose}
      side="right"
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          saving.mutate()
        }}
      >
        <fieldset disabled={!canChange} className="flex min-w-0 flex-col gap-4">
          {policy === null && (
            <SelectField label="For" value={target} choices={targets} onChange={setTarget} />
          )}
          {isOfGroup && (
            <TextField
              label="Priority"
              hint="Of several groups of a person, 1 decides. Settings of everybody are below all groups."
              type="number"
              required
              min={1}
              max={PRIORITY_MAX}
              value={priority}
              onChange={setPriority}
            />
          )}
          {policy === null && (
            <SelectField
              label="Begin with"
              value={example}
              choices={EXAMPLES}
              onChange={(chosen) => {
                setExample(chosen)
                setText(format(SETTINGS_EXAMPLES[chosen].settings))
              }}
            />
          )}
          <SettingsEditor text={text} read={read} onChange={setText} />
        </fieldset>
        {saving.error && <ErrorPanel title="The settings could not be saved" error={saving.error} />}
        {canChange && (
          <div className="flex flex-wrap justify-between gap-3">
            <span className="flex flex-wrap gap-2">
              <Button kind="primary" type="submit" isBusy={saving.isPending} disabled={read.problem !== null}>
                Save
              </Button>
              <Button
                disabled={read.problem !== null}
                onClick={() => read.problem === null && setText(format(read.settings))}
              >
                Tidy up
              </Button>
            </span>
            {policy !== null && (
              <Button kind="danger" onClick={() => setIsDeleting(true)}>
                Delete
              </Button>
            )}
          </div>
        )}
      </form>
      {isDeleting && policy !== null && (
        <ConfirmDialog
          title={`Delete the settings for ${name === 'Everybody' ? 'everybody' : name}?`}
          description="Agents drop them when they ask again: at their next start, or within about an hour."
          action="Delete the settings"
          onConfirm={async () => {
            await deleteManagedSettings(policy.id)
            await refresh()
            onClose()
          }}
          onClose={() => setIsDeleting(false)}
        />
      )}
    </Sheet>
  )
}

function format(settings: object): string {
  return JSON.stringify(settings, null, 2)
}
