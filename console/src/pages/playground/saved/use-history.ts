import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { changeSavedChat, saveChat } from '../../../api/saved-chats.ts'
import { showFailure } from '../../../ui/overlays/toasts.tsx'
import type { ChatMessage } from '../chat/chat-state.ts'
import type { Chat } from '../chat/use-chat.ts'
import type { PlaygroundSearch } from '../playground-search.ts'
import { nameOf, toContent } from './chat-content.ts'
import { ConversationKeeper } from './conversation-keeper.ts'

const STORAGE_KEY = 'parkway.keep-conversations'

export interface History {
  /** Whether conversations are kept after each answer. Off until the person switches it on. */
  readonly isOn: boolean
  readonly set: (isOn: boolean) => void
  /** Says that the conversation is another one now: one that was kept under this id, or a new one. */
  readonly begin: (id: string | null, messages: readonly ChatMessage[]) => void
}

/** Keeps the conversation in the account after each answer. */
export function useHistory(model: string, search: PlaygroundSearch, chat: Chat): History {
  const [isOn, setIsOn] = useState(() => readChoice())
  const [keeper] = useState(() => new ConversationKeeper())
  const kept = useRef<readonly ChatMessage[] | null>(null)
  const queryClient = useQueryClient()
  const { messages, isStreaming } = chat

  const set = useCallback((wanted: boolean): void => {
    localStorage.setItem(STORAGE_KEY, String(wanted))
    setIsOn(wanted)
  }, [])

  useEffect(() => {
    if (messages.length === 0) keeper.begin(null)
    if (!isOn || isStreaming || messages.at(-1)?.role !== 'assistant' || kept.current === messages) return
    kept.current = messages
    const content = toContent(model, search, messages)
    const write = async (id: string | null): Promise<string> => {
      const name = nameOf(messages)
      const saved =
        id === null
          ? await saveChat({ kind: 'conversation', name, visibility: 'private', content })
          : await changeSavedChat(id, { content })
      return saved.id
    }
    const keep = async (): Promise<void> => {
      try {
        await keeper.keep(write)
        await queryClient.invalidateQueries({ queryKey: ['saved-chats', 'conversation'] })
      } catch (error) {
        set(false)
        showFailure('The conversation could not be kept, so this is switched off', error)
      }
    }
    void keep()
  }, [isOn, isStreaming, messages, model, search, queryClient, set, keeper])

  const begin = useCallback(
    (wanted: string | null, loaded: readonly ChatMessage[]): void => {
      keeper.begin(wanted)
      kept.current = loaded
    },
    [keeper],
  )
  return { isOn, set, begin }
}

function readChoice(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) === 'true'
  } catch {
    return false
  }
}
