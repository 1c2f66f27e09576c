import { useState, type ReactNode } from 'react'
import type { Model } from '../../../api/model-kinds.ts'
import { ShowCodeDialog } from '../../../snippets/show-code-dialog.tsx'
import { Button } from '../../../ui/forms/button.tsx'
import { IconButton } from '../../../ui/forms/icon-button.tsx'
import { formatPrice } from '../../../ui/format/format-price.ts'
import { formatShortCount } from '../../../ui/format/format-count.ts'
import { PageHeader } from '../../../ui/layout/page-header.tsx'
import { Sheet } from '../../../ui/overlays/sheet.tsx'
import { showFailure } from '../../../ui/overlays/toasts.tsx'
import type { ApiCall } from '../../../snippets/api-call.ts'
import type { PlaygroundSearch } from '../playground-search.ts'
import { buildChatBody } from './build-chat-body.ts'
import { ChatMessageView } from './chat-message-view.tsx'
import { ChatParameters } from './chat-parameters.tsx'
import { Composer } from './composer.tsx'
import { useChat } from './use-chat.ts'
import { useEndInView } from './use-end-in-view.ts'

interface ChatPanelProps {
  readonly model: Model
  readonly search: PlaygroundSearch
  readonly onSearch: (change: PlaygroundSearch) => void
  readonly picker: ReactNode
}

/** A conversation at the left, its parameters at the right. */
export function ChatPanel({ model, search, onSearch, picker }: ChatPanelProps) {
  const chat = useChat(model.id, search)
  const [code, setCode] = useState<ApiCall | null>(null)
  const [isSheetOpen, setIsSheetOpen] = useState(false)
  const end = useEndInView(chat.messages.length)
  const showCode = (): void => {
    try {
      setCode({ path: '/v1/chat/completions', body: buildChatBody(model.id, chat.messages, search) })
    } catch (error) {
      showFailure('The code cannot be shown', error)
    }
  }
  const parameters = <ChatParameters model={model} search={search} onChange={onSearch} />
  return (
    <div className="flex h-full min-h-0">
      <div className="flex min-w-0 grow flex-col">
        <div className="flex flex-col gap-3 border-b border-line px-4 py-3 sm:px-6">
          <PageHeader
            title="Playground"
            actions={
              <>
                {picker}
                <Button icon="code" onClick={showCode}>
                  Show code
                </Button>
                <IconButton
                  icon="trash"
                  label="Clear the conversation"
                  disabled={chat.messages.length === 0}
                  onClick={chat.clear}
                />
                <IconButton
                  icon="settings"
                  label="Parameters"
                  className="lg:hidden"
                  onClick={() => setIsSheetOpen(true)}
                />
              </>
            }
          />
        </div>
        <div
          role="log"
          aria-label="Conversation"
          tabIndex={0}
          className="min-h-0 grow overflow-y-auto -outline-offset-2"
        >
          <div className="mx-auto flex max-w-3xl flex-col gap-6 px-4 py-6 sm:px-6">
            {chat.messages.length === 0 && <Introduction model={model} />}
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
        <Composer
          isStreaming={chat.isStreaming}
          takesImages={model.capabilities.includes('vision')}
          onSend={chat.send}
          onStop={chat.stop}
        />
      </div>
      <aside
        aria-label="Parameters"
        className="w-80 shrink-0 overflow-y-auto border-l border-line bg-surface p-4 max-lg:hidden"
      >
        {parameters}
      </aside>
      {isSheetOpen && (
        <Sheet title="Parameters" side="right" isOpen onClose={() => setIsSheetOpen(false)}>
          {parameters}
        </Sheet>
      )}
      {code && <ShowCodeDialog call={code} isOpen onClose={() => setCode(null)} />}
    </div>
  )
}

function Introduction({ model }: { readonly model: Model }) {
  return (
    <div className="py-8 text-center">
      <p className="text-lg font-semibold tracking-tight">{model.display_name}</p>
      <p className="text-sm text-ink-soft">
        {formatPrice(model)}
        {model.context_tokens !== null && ` · ${formatShortCount(model.context_tokens)} tokens of context`}
      </p>
      {model.provider === 'sandbox' && (
        <p className="mt-2 text-xs text-ink-faint">
          No provider is configured for it, so the sandbox answers: made-up text at the real price, with test
          credit.
        </p>
      )}
    </div>
  )
}
