import type { ReactNode } from 'react'
import type { Model } from '../../../api/model-kinds.ts'
import { Button } from '../../../ui/forms/button.tsx'
import { IconButton } from '../../../ui/forms/icon-button.tsx'
import { SelectField } from '../../../ui/forms/select-field.tsx'

interface ChatActionsProps {
  readonly picker: ReactNode
  /** The models that may stand beside this one. */
  readonly others: readonly Model[]
  readonly beside: string | undefined
  readonly onBeside: (model: string | undefined) => void
  readonly onSaved: () => void
  readonly onSave: () => void
  readonly onCode: () => void
  readonly onParameters: () => void
  /** Null while there is nothing to clear. */
  readonly onClear: (() => void) | null
}

/** What can be done with the conversation. */
export function ChatActions(props: ChatActionsProps) {
  const { picker, others, beside, onBeside, onSaved, onSave, onCode, onParameters, onClear } = props
  return (
    <>
      {picker}
      {beside !== undefined && (
        <SelectField
          label="Second model"
          isLabelHidden
          value={beside}
          choices={others.map(({ id, display_name }) => ({ value: id, label: display_name }))}
          onChange={onBeside}
          className="w-56 max-sm:w-full"
        />
      )}
      <IconButton
        icon={beside === undefined ? 'compare' : 'close'}
        label={beside === undefined ? 'Compare with a second model' : 'Remove the second model'}
        disabled={others.length === 0}
        onClick={() => onBeside(beside === undefined ? others[0]?.id : undefined)}
      />
      <Button icon="book" onClick={onSaved}>
        Saved
      </Button>
      <Button icon="download" onClick={onSave}>
        Save
      </Button>
      <Button icon="code" onClick={onCode}>
        Show code
      </Button>
      <IconButton
        icon="trash"
        label="Clear the conversation"
        disabled={onClear === null}
        onClick={() => onClear?.()}
      />
      <IconButton icon="settings" label="Parameters" className="lg:hidden" onClick={onParameters} />
    </>
  )
}
