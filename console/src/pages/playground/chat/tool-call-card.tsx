import { TextArea } from '../../../ui/forms/text-area.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { CodeBlock } from '../../../ui/text/code-block.tsx'
import type { ToolCall } from './chat-state.ts'

interface ToolCallCardProps {
  readonly call: ToolCall
  readonly isEditable: boolean
  readonly onResult: (result: string) => void
}

/** A tool that the model wants to use. The person plays the tool. */
export function ToolCallCard({ call, isEditable, onResult }: ToolCallCardProps) {
  return (
    <div className="flex flex-col gap-2 rounded-md border border-line p-3">
      <p className="flex items-center gap-2 text-sm">
        <Icon name="plug" className="text-ink-faint" />
        Calls <span className="font-mono text-xs">{call.name}</span>
      </p>
      <CodeBlock code={indent(call.argumentsText)} language="json" label="Arguments" />
      {isEditable ? (
        <TextArea label="Result of the tool" isCode rows={2} value={call.result ?? ''} onChange={onResult} />
      ) : (
        call.result !== undefined && (
          <CodeBlock code={call.result} language="json" label="Result of the tool" />
        )
      )}
    </div>
  )
}

/** The arguments may still be on their way, or be no JSON at all. */
function indent(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
