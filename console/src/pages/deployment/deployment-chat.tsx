import { useEffect, useRef, useState } from 'react'
import type { Deployment } from '../../api/deployment.ts'
import { streamChat } from '../../api/stream-chat.ts'
import { ErrorPanel } from '../../ui/feedback/error-panel.tsx'
import { Button } from '../../ui/forms/button.tsx'
import { TextArea } from '../../ui/forms/text-area.tsx'
import { Section } from '../../ui/layout/section.tsx'
import { MarkdownView } from '../../ui/text/markdown-view.tsx'

interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** A short talk with the model of a deployment. A sleeping one wakes by it. */
export function DeploymentChat({ deployment }: { readonly deployment: Deployment }) {
  const { messages, error, isAnswering, send, stop } = useTalk(deployment.model_id)
  const [draft, setDraft] = useState('')
  const isReachable = deployment.status === 'running' || deployment.status === 'sleeping'
  const submit = (): void => {
    if (draft.trim() === '' || isAnswering || !isReachable) return
    send(draft.trim())
    setDraft('')
  }
  return (
    <Section>
      <div className="flex flex-col gap-4">
        <ol aria-label="Messages" aria-live="polite" className="flex flex-col gap-3">
          {messages.map((message, index) => (
            <li
              key={index}
              className={
                message.role === 'user'
                  ? 'max-w-[85%] self-end rounded-lg bg-accent-soft px-3 py-2 text-sm break-words whitespace-pre-wrap'
                  : 'max-w-full text-sm'
              }
            >
              <span className="sr-only">{message.role === 'user' ? 'You: ' : 'Model: '}</span>
              {message.role === 'user' ? message.content : <MarkdownView text={message.content} />}
            </li>
          ))}
        </ol>
        {error !== null && <ErrorPanel title="The model did not answer" error={error} />}
        <form
          className="flex items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
        >
          <TextArea
            label="Message"
            isLabelHidden
            rows={2}
            placeholder={
              isReachable ? 'Say something to the model' : `The deployment is ${deployment.status}.`
            }
            value={draft}
            onChange={setDraft}
            className="grow"
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
              event.preventDefault()
              submit()
            }}
          />
          {isAnswering ? (
            <Button icon="stop" onClick={stop}>
              Stop
            </Button>
          ) : (
            <Button type="submit" kind="primary" icon="send" disabled={!isReachable || draft.trim() === ''}>
              Send
            </Button>
          )}
        </form>
      </div>
    </Section>
  )
}

function useTalk(model: string) {
  const [messages, setMessages] = useState<readonly Message[]>([])
  const [error, setError] = useState<unknown>(null)
  const [isAnswering, setIsAnswering] = useState(false)
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const answer = async (asked: readonly Message[], signal: AbortSignal): Promise<void> => {
    for await (const event of streamChat({ model, messages: asked, stream: true }, signal))
      if (event.kind === 'text')
        setMessages((old) => {
          const last = old.at(-1)
          const content = (last?.role === 'assistant' ? last.content : '') + event.text
          return [...(last?.role === 'assistant' ? old.slice(0, -1) : old), { role: 'assistant', content }]
        })
  }
  const send = (content: string): void => {
    const asked = [...messages, { role: 'user' as const, content }]
    const stopping = new AbortController()
    running.current = stopping
    setMessages(asked)
    setError(null)
    setIsAnswering(true)
    answer(asked, stopping.signal)
      .catch((failure: unknown) => {
        if (!stopping.signal.aborted) setError(failure)
      })
      .finally(() => setIsAnswering(false))
  }
  return { messages, error, isAnswering, send, stop: () => running.current?.abort() }
}
