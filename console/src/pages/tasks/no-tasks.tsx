import { CodeBlock } from '../../ui/text/code-block.tsx'
import { EmptyState } from '../../ui/feedback/empty-state.tsx'

/** Says how a first task is made, with the address of this gateway. */
export function NoTasks() {
  return (
    <EmptyState
      icon="image"
      title="No tasks yet"
      action={
        <div className="w-full max-w-xl min-w-0 text-left">
          <CodeBlock code={firstTask()} language="bash" label="How to make a first task" />
        </div>
      }
    >
      Work that takes longer than a request becomes a task: videos, music, and pictures of models that take
      their time.
    </EmptyState>
  )
}

function firstTask(): string {
  return `curl ${location.origin}/v1/images/generations \\
  -H "Authorization: Bearer $PARKWAY_API_KEY" \\
  -H "Content-Type: application/json" -H "Prefer: respond-async" \\
  -d '{"model":"flux-schnell","prompt":"A lighthouse at dusk"}'`
}
