import { Button } from '../ui/forms/button.tsx'
import { Dialog } from '../ui/overlays/dialog.tsx'
import { CodeBlock } from '../ui/text/code-block.tsx'

interface KeyShownOnceProps {
  readonly created: { readonly key: string; readonly name: string }
  readonly onClose: () => void
}

/** A new key. The gateway stores only its hash, so it cannot be shown again. */
export function KeyShownOnce({ created, onClose }: KeyShownOnceProps) {
  return (
    <Dialog
      title={`Key “${created.name}”`}
      isOpen
      onClose={onClose}
      isWide
      description="Copy the key now. It is shown only this once; if it is lost, make another."
      actions={
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <CodeBlock label="The new key" language="text" code={created.key} />
      <div className="flex flex-col gap-2">
        <p className="text-sm font-medium">Try it</p>
        <CodeBlock label="Example with curl" language="bash" code={exampleOf(created.key)} />
      </div>
    </Dialog>
  )
}

function exampleOf(key: string): string {
  return `curl ${location.origin}/v1/models \\\n  -H "Authorization: Bearer ${key}"`
}
