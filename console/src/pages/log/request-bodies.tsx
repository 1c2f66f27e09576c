import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMay } from '../../api/permissions.ts'
import { NotPermitted } from '../../ui/permitted.tsx'
import { requestBodyQuery, type RequestDetails, type StoredBody } from '../../api/requests.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton.tsx'
import { formatBytes } from '../../ui/format/format-count.ts'
import { Button } from '../../ui/forms/button.tsx'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { MarkdownView } from '../../ui/text/markdown-view.tsx'
import { Time } from '../../ui/text/time.tsx'

/** The bodies of a request where they are stored. They are fetched when somebody wants to see them. */
export function RequestBodies({ request }: { readonly request: RequestDetails }) {
  const mayRead = useMay('bodies.read')
  const [isOpen, setIsOpen] = useState(false)
  if (!request.body_stored)
    return <p className="text-sm text-ink-soft">The bodies of this request are not stored.</p>
  if (mayRead === false)
    return (
      <NotPermitted
        permission="bodies.read"
        what="The bodies of this request are stored. Reading them needs"
      />
    )
  if (isOpen) return <Bodies id={request.request_id} />
  return (
    <div>
      <Button onClick={() => setIsOpen(true)}>Show the bodies</Button>
    </div>
  )
}

function Bodies({ id }: { readonly id: string }) {
  const bodies = useQuery(requestBodyQuery(id))
  if (bodies.isPending) return <SkeletonRows />
  if (bodies.error)
    return (
      <ErrorPanel
        title="The bodies could not be loaded"
        error={bodies.error}
        onRetry={() => void bodies.refetch()}
      />
    )
  const { request, answer, expires_at: expiresAt } = bodies.data
  return (
    <div className="flex flex-col gap-4">
      <Body title="Request" body={request} />
      {answer.assembled_text !== null && (
        <div className="flex flex-col gap-2">
          <h4 className="text-xs font-medium text-ink-soft">Answer, put together</h4>
          <div className="rounded-md border border-line px-4 py-3 text-sm">
            <MarkdownView text={answer.assembled_text} />
          </div>
        </div>
      )}
      <Body title={answer.assembled_text === null ? 'Answer' : 'Answer, as it was streamed'} body={answer} />
      <p className="text-xs text-ink-faint">
        Stored until <Time at={expiresAt} form="short" />
      </p>
    </div>
  )
}

function Body({ title, body }: { readonly title: string; readonly body: StoredBody }) {
  const { text, language } = arrange(body.text)
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <h4 className="flex justify-between gap-2 text-xs font-medium text-ink-soft">
        {title}
        <span className="tabular font-normal text-ink-faint">
          {formatBytes(body.bytes)}
          {body.cut && ', the end is missing'}
        </span>
      </h4>
      <CodeBlock code={text} language={language} label={title} />
    </div>
  )
}

/** Indents JSON. Anything else, such as a body that is cut, is shown as it is. */
function arrange(text: string): { readonly text: string; readonly language: string } {
  try {
    return { text: JSON.stringify(JSON.parse(text), null, 2), language: 'json' }
  } catch {
    return { text, language: 'text' }
  }
}
