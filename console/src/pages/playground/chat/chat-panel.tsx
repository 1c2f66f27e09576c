import { useState, type ReactNode } from 'react'
import type { Model } from '../../../api/model-kinds.ts'
import { ShowCodeDialog } from '../../../snippets/show-code-dialog.tsx'
import { formatPrice } from '../../../ui/format/format-price.ts'
import { formatShortCount } from '../../../ui/format/format-count.ts'
import { PageHeader } from '../../../ui/layout/page-header.tsx'
import { Sheet } from '../../../ui/overlays/sheet.tsx'
import { showFailure } from '../../../ui/overlays/toasts.tsx'
import type { ApiCall } from '../../../snippets/api-call.ts'
import type { PlaygroundSearch } from '../playground-search.ts'
import { SaveDialog } from '../saved/save-dialog.tsx'
import { SavedSheet } from '../saved/saved-sheet.tsx'
import { useHistory } from '../saved/use-history.ts'
import { useOpenSaved } from '../saved/use-open-saved.ts'
import { buildChatBody } from './build-chat-body.ts'
import { ChatActions } from './chat-actions.tsx'
import { ChatLog } from './chat-log.tsx'
import { ChatParameters } from './chat-parameters.tsx'
import type { UserMessage } from './chat-state.ts'
import { Composer } from './composer.tsx'
import { CostEstimate } from './cost-estimate.tsx'
import { estimateOrder } from './estimate-order.ts'
import { useChat } from './use-chat.ts'

interface ChatPanelProps {
  readonly model: Model
  readonly models: readonly Model[]
  readonly search: PlaygroundSearch
  readonly onSearch: (change: PlaygroundSearch) => void
  readonly picker: ReactNode
}

type Overlay = 'parameters' | 'saved' | 'save'

/** A conversation at the left, its parameters at the right. A second model may answer beside the first. */
export function ChatPanel({ model, models, search, onSearch, picker }: ChatPanelProps) {
  const others = models.filter(({ id, category }) => category === 'llm' && id !== model.id)
  const second = others.find(({ id }) => id === search.beside)
  const chat = useChat(model.id, search)
  const besides = useChat(second?.id ?? model.id, search)
  const history = useHistory(model.id, search, chat)
  const saved = useOpenSaved({ models, search, onSearch, chat, history })
  const [code, setCode] = useState<ApiCall | null>(null)
  const [overlay, setOverlay] = useState<Overlay | null>(null)
  const closeOverlay = (): void => setOverlay(null)
  const chats = second === undefined ? [chat] : [chat, besides]
  const asked = second === undefined ? [model] : [model, second]
  const showCode = (): void => {
    try {
      setCode({ path: '/v1/chat/completions', body: buildChatBody(model.id, chat.messages, search) })
    } catch (error) {
      showFailure('The code cannot be shown', error)
    }
  }
  const setBeside = (id: string | undefined): void => {
    // The second model goes on from what was said.
    if (second === undefined) besides.load(chat.messages)
    else if (id === undefined) besides.clear()
    onSearch({ beside: id })
  }
  const clear = (): void => {
    for (const one of chats) one.clear()
    history.begin(null, [])
  }
  const parameters = <ChatParameters model={model} search={search} onChange={onSearch} />
  return (
    <div className="flex h-full min-h-0">
      <div className="flex min-w-0 grow flex-col">
        <div className="flex flex-col gap-3 border-b border-line px-4 py-3 sm:px-6">
          <PageHeader
            title="Playground"
            actions={
              <ChatActions
                picker={picker}
                others={others}
                beside={second?.id}
                onBeside={setBeside}
                onSaved={() => setOverlay('saved')}
                onSave={() => setOverlay('save')}
                onCode={showCode}
                onParameters={() => setOverlay('parameters')}
                onClear={chat.messages.length === 0 ? null : clear}
              />
            }
          />
        </div>
        <div className="flex min-h-0 grow divide-line max-md:flex-col max-md:divide-y md:divide-x">
          {chats.map((one, index) => (
            <ChatLog
              key={index}
              label={index === 0 ? 'Conversation' : 'Conversation with the second model'}
              chat={one}
              introduction={<Introduction model={asked[index] ?? model} />}
            />
          ))}
        </div>
        <Composer
          key={saved.draft.id}
          draft={saved.draft.text}
          onDraft={saved.noteDraft}
          renderEstimate={(text) => (
            <CostEstimate
              order={estimateOrder(
                asked.map(({ id }) => id),
                chat.messages,
                search,
                text,
              )}
            />
          )}
          isStreaming={chats.some(({ isStreaming }) => isStreaming)}
          takesImages={asked.every(({ capabilities }) => capabilities.includes('vision'))}
          onSend={(text, images) => {
            for (const one of chats) one.send(text, images)
          }}
          onStop={() => {
            for (const one of chats) one.stop()
          }}
        />
      </div>
      <aside
        aria-label="Parameters"
        className="w-80 shrink-0 overflow-y-auto border-l border-line bg-surface p-4 max-lg:hidden"
      >
        {parameters}
      </aside>
      {overlay === 'parameters' && (
        <Sheet title="Parameters" side="right" isOpen onClose={closeOverlay}>
          {parameters}
        </Sheet>
      )}
      {overlay === 'saved' && (
        <SavedSheet
          history={history}
          onOpen={(id) => {
            closeOverlay()
            void saved.open(id)
          }}
          onClose={closeOverlay}
        />
      )}
      {overlay === 'save' && (
        <SaveDialog
          model={model.id}
          search={search}
          messages={[...chat.messages, ...asMessage(saved.readDraft())]}
          onClose={closeOverlay}
        />
      )}
      {code && <ShowCodeDialog call={code} isOpen onClose={() => setCode(null)} />}
    </div>
  )
}

/** What is written and not sent yet. */
function asMessage(text: string): UserMessage[] {
  return text.trim() === '' ? [] : [{ role: 'user', id: 'draft', text, images: [] }]
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
