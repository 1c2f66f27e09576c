import type { ReactNode } from 'react'
import { ChatMessageView } from './chat-message-view.tsx'
import type { Chat } from './use-chat.ts'
import { useEndInView } from './use-end-in-view.ts'

interface ChatLogProps {
  readonly label: string
  readonly chat: Chat
  /** What is shown before the first message. */
  readonly introduction: ReactNode
}

/** The messages of a conversation, scrolled to the newest. */
export function ChatLog({ label, chat, introduction }: ChatLogProps) {
  const end = useEndInView(chat.messages.length)
  return (
    <div
      role="log"
      aria-label={label}
      tabIndex={0}
      className="min-h-0 min-w-0 flex-1 overflow-y-auto -outline-offset-2"
    >
      <div className="mx-auto flex max-w-3xl flex-col gap-6 px-4 py-6 sm:px-6">
        {chat.messages.length === 0 && introduction}
        {chat.messages.map((message) => (
          <ChatMessageView
            key={message.id}
            message={message}
            chat={chat}
            isLast={message === chat.messages.at(-1)}
          />
        ))}
        <div ref={end} />
      </div>
    </div>
  )
}
