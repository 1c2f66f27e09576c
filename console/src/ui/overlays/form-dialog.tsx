import { useId, type FormEvent, type ReactNode } from 'react'
import { ErrorPanel } from '../feedback/error-panel.tsx'
import { Button } from '../forms/button.tsx'
import { Dialog } from './dialog.tsx'

interface FormDialogProps {
  readonly title: string
  /** What the main button does, such as "Make the key". */
  readonly action: string
  /** Runs when the form is sent. */
  readonly work: { readonly mutate: () => void; readonly isPending: boolean; readonly error: unknown }
  /** What a failure prevented, such as "The key could not be made". */
  readonly failure: string
  readonly isIncomplete?: boolean
  readonly isWide?: boolean | undefined
  readonly onClose: () => void
  /** The fields. */
  readonly children: ReactNode
}

/** A long form may end below what is seen. */
const showInView = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' })

/** A form that is sent or cancelled, and stays open with the reason if it fails. */
export function FormDialog(props: FormDialogProps) {
  const { title, action, work, failure, isIncomplete = false, isWide, onClose, children } = props
  const formId = useId()
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    work.mutate()
  }
  return (
    <Dialog
      title={title}
      isOpen
      isWide={isWide}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={formId} isBusy={work.isPending} disabled={isIncomplete}>
            {action}
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="flex flex-col gap-4 pt-2">
        {children}
        {work.error !== null && (
          <div ref={showInView}>
            <ErrorPanel title={failure} error={work.error} />
          </div>
        )}
      </form>
    </Dialog>
  )
}
