import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  adminRequestBodyQuery,
  replayRequest,
  type AdminRequestDetails,
  type Replay,
} from '../../api/admin-requests.ts'
import { ModelField, UsedValueField } from '../../filters/used-value-field.tsx'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { formatCount } from '../../ui/format/format-count.ts'
import { formatDuration } from '../../ui/format/format-duration.ts'
import { formatUsd } from '../../ui/format/format-usd.ts'
import { Button } from '../../ui/forms/button.tsx'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CopyableId } from '../../ui/text/copyable-id.tsx'

/** Asks another provider what the request asked, and shows both answers. */
export function RequestReplay({ request }: { readonly request: AdminRequestDetails }) {
  const { request_id: id, account_id: accountId } = request
  const [provider, setProvider] = useState('')
  const [model, setModel] = useState('')
  const call = useMutation({ mutationFn: () => replayRequest(id, { accountId, provider, model }) })
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        call.mutate()
      }}
    >
      <p className="text-sm text-ink-soft">
        Asks this provider only, as a test call that your own account pays for. The audit log records it.
      </p>
      <div className="flex flex-wrap items-start gap-2">
        <UsedValueField
          label="Provider to ask"
          dimension="provider"
          isOfAll
          className="w-44"
          value={provider}
          onChange={setProvider}
        />
        <ModelField
          label="Model, if another one"
          isOfAll
          className="w-52"
          value={model}
          onChange={setModel}
        />
        <Button type="submit" kind="primary" isBusy={call.isPending} disabled={provider === ''}>
          Replay
        </Button>
      </div>
      {call.error && <ErrorPanel title="The request could not be replayed" error={call.error} />}
      {call.data && <BothAnswers request={request} replay={call.data} />}
    </form>
  )
}

/** Who replayed may read the original, so that it is shown without asking again. */
function BothAnswers({
  request,
  replay,
}: {
  readonly request: AdminRequestDetails
  readonly replay: Replay
}) {
  const bodies = useQuery(adminRequestBodyQuery(request.request_id, request.account_id))
  const original = bodies.data?.answer
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <AnswerShown
        title={`Original: ${request.provider ?? 'no provider'}`}
        figures={figuresOf(request.latency_ms, request.cost_usd, request.completion_tokens)}
        id={request.request_id}
        text={original && (original.assembled_text ?? contentOf(original.text))}
      />
      <AnswerShown
        title={`Test call: ${replay.provider}`}
        figures={figuresOf(replay.latency_ms, replay.cost_usd, replay.completion_tokens)}
        id={replay.request_id}
        text={replay.answer.assembled_text ?? replay.answer.text}
      />
    </div>
  )
}

interface AnswerShownProps {
  readonly title: string
  readonly figures: string
  readonly id: string
  readonly text: string | undefined
}

function AnswerShown({ title, figures, id, text }: AnswerShownProps) {
  return (
    <section className="flex min-w-0 flex-col gap-1">
      <h4 className="text-sm font-semibold">{title}</h4>
      <p className="text-xs text-ink-soft">{figures}</p>
      <CopyableId id={id} label="request id" isShort />
      {text !== undefined && <CodeBlock label={title} language="json" code={text} />}
    </section>
  )
}

function figuresOf(latencyMs: number, costUsd: number, tokens: number | null): string {
  const parts = [formatDuration(latencyMs), formatUsd(costUsd)]
  return [...parts, ...(tokens === null ? [] : [`${formatCount(tokens)} tokens out`])].join(', ')
}

/** The text of a chat that was answered as a whole, or the body as it is. */
function contentOf(text: string): string {
  try {
    const answer: { choices?: { message?: { content?: unknown } }[] } = JSON.parse(text)
    const content = answer.choices?.[0]?.message?.content
    return typeof content === 'string' ? content : text
  } catch {
    return text
  }
}
