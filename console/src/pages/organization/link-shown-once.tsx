import { Button } from '../../ui/forms/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { CodeBlock } from '../../ui/text/code-block.tsx'

interface LinkShownOnceProps {
  readonly title: string
  readonly email: string
  /** Null: it was mailed to the person. */
  readonly url: string | null
  /** How long it works, and how to make another. */
  readonly note: string
  readonly onClose: () => void
}

/** The gateway stores only a hash of the code in the link. */
export function LinkShownOnce({ title, email, url, note, onClose }: LinkShownOnceProps) {
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      isWide={url !== null}
      description={
        url === null
          ? `The link was mailed to ${email}. ${note}`
          : `Send this link to ${email} yourself, so that only they can read it. It is shown only now. ${note}`
      }
      actions={
        <Button kind="primary" onClick={onClose}>
          {url === null ? 'Done' : 'I have copied it'}
        </Button>
      }
    >
      {url !== null && <CodeBlock label="The link" language="text" code={url} />}
    </Dialog>
  )
}
