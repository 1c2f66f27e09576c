import { ErrorPanel } from '../../../ui/feedback/error-panel.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { CopyButton } from '../../../ui/text/copy-button.tsx'
import { MarkdownView } from '../../../ui/text/markdown-view.tsx'
import { AnswerFigures } from './answer-figures.tsx'
import { needsToolResults, type AssistantMessage, type ChatMessage, type UserMessage } from './chat-state.ts'
import { ToolCallCard } from './tool-call-card.tsx'
import type { Chat } from './use-chat.ts'

interface ChatMessageViewProps {
  readonly message: ChatMessage
  readonly chat: Chat
  readonly isLast: boolean
}

export function ChatMessageView({ message, chat, isLast }: ChatMessageViewProps) {
  return message.role === 'user' ? (
    <Question message={message} />
  ) : (
    <Answer message={message} chat={chat} isLast={isLast} />
  )
}

function Question({ message: { text, images } }: { readonly message: UserMessage }) {
  return (
    <div className="flex flex-col items-end gap-2">
      {images.length > 0 && (
        <div className="flex flex-wrap justify-end gap-2">
          {images.map((image, index) => (
            <img
              key={index}
              src={image}
              alt={`Number ${index + 1} of this message`}
              className="max-h-48 rounded-lg border border-line"
            />
          ))}
        </div>
      )}
      {text && (
        <p className="max-w-[85%] rounded-lg bg-accent-soft px-3.5 py-2 break-words whitespace-pre-wrap">
          {text}
        </p>
      )}
    </div>
  )
}

function Answer({
  message,
  chat,
  isLast,
}: {
  readonly message: AssistantMessage
  readonly chat: Chat
  readonly isLast: boolean
}) {
  const { text, reasoning, toolCalls, isStreaming, error } = message
  const isWaiting = isStreaming && text === '' && reasoning === '' && toolCalls.length === 0
  return (
    <div className="flex min-w-0 flex-col gap-3" aria-busy={isStreaming}>
      {reasoning && (
        <details
          open={isStreaming && text === ''}
          className="rounded-md border border-line bg-sunken px-3 py-2 text-sm"
        >
          <summary className="text-xs font-medium text-ink-soft">Reasoning</summary>
          <p className="pt-2 break-words whitespace-pre-wrap text-ink-soft">{reasoning}</p>
        </details>
      )}
      {isWaiting && (
        <p role="status" className="animate-pulse text-sm text-ink-faint">
          Waiting for the first token…
        </p>
      )}
      {text && <MarkdownView text={text} />}
      {toolCalls.map((call) => (
        <ToolCallCard
          key={call.id}
          call={call}
          isEditable={isLast && !isStreaming}
          onResult={(result) => chat.setToolResult(message.id, call.id, result)}
        />
      ))}
      {isLast && toolCalls.length > 0 && !isStreaming && (
        <Button
          kind="primary"
          className="self-start"
          disabled={needsToolResults(chat.messages)}
          onClick={chat.goOn}
        >
          Send the results
        </Button>
      )}
      {error && (
        <ErrorPanel title="The answer failed" error={error} onRetry={isLast ? chat.retry : undefined} />
      )}
      {!isStreaming && (
        <div className="flex flex-wrap items-center gap-x-1">
          <CopyButton text={text} label="Copy the answer" />
          {isLast && (
            <Button kind="quiet" icon="retry" onClick={chat.retry}>
              Again
            </Button>
          )}
          <AnswerFigures message={message} />
        </div>
      )}
    </div>
  )
}
