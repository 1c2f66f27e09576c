import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Model } from '../../../api/model-kinds.ts'
import { savedChatQuery } from '../../../api/saved-chats.ts'
import { showFailure } from '../../../ui/overlays/toasts.tsx'
import type { Chat } from '../chat/use-chat.ts'
import type { PlaygroundSearch } from '../playground-search.ts'
import { fromContent } from './chat-content.ts'
import type { History } from './use-history.ts'

interface OpenSavedOptions {
  readonly models: readonly Model[]
  readonly search: PlaygroundSearch
  readonly onSearch: (change: PlaygroundSearch) => void
  readonly chat: Chat
  readonly history: History
}

interface OpenSaved {
  /** The text that the composer begins with. Each opened text has a new id. */
  readonly draft: { readonly id: number; readonly text: string }
  readonly open: (id: string) => Promise<void>
  readonly noteDraft: (text: string) => void
  readonly readDraft: () => string
}

/** Opens what is saved: that of the address, and what the person chooses. */
export function useOpenSaved({ models, search, onSearch, chat, history }: OpenSavedOptions): OpenSaved {
  const queryClient = useQueryClient()
  const [draft, setDraft] = useState({ id: 0, text: '' })
  const written = useRef('')
  const open = async (id: string): Promise<void> => {
    try {
      const saved = await queryClient.fetchQuery(savedChatQuery(id))
      const content = fromContent(saved.content)
      const last = content.messages.at(-1)
      // The last message of a prompt is still to be sent.
      const isDraft = saved.kind === 'prompt' && last?.role === 'user'
      const messages = isDraft ? content.messages.slice(0, -1) : content.messages
      history.begin(saved.kind === 'conversation' && saved.is_own ? id : null, messages)
      chat.load(messages)
      const text = isDraft ? last.text : ''
      written.current = text
      setDraft((before) => ({ id: before.id + 1, text }))
      const { model, ...parameters } = content.search
      const isThere = models.some(({ id: known, category }) => known === model && category === 'llm')
      onSearch({ ...parameters, saved: undefined, ...(isThere && { model }) })
    } catch (error) {
      onSearch({ saved: undefined })
      showFailure('What was saved could not be opened', error)
    }
  }
  const opening = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (search.saved === undefined || opening.current === search.saved) return
    opening.current = search.saved
    void open(search.saved)
  })
  return {
    draft,
    open,
    noteDraft: (text) => {
      written.current = text
    },
    readDraft: () => written.current,
  }
}
