import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { accountQuery } from '../../../api/account.ts'
import { describeFailure } from '../../../api/api-error.ts'
import { streamChat, type ChatEvent } from '../../../api/stream-chat.ts'
import type { PlaygroundSearch } from '../playground-search.ts'
import { buildChatBody } from './build-chat-body.ts'
import { joinToolCall, needsToolResults, type AssistantMessage, type ChatMessage } from './chat-state.ts'

export interface Chat {
  readonly messages: readonly ChatMessage[]
  readonly isStreaming: boolean
  readonly send: (text: string, images: readonly string[]) => void
  readonly stop: () => void
  /** Asks again for the last answer. */
  readonly retry: () => void
  readonly clear: () => void
  /** Goes on with other messages. */
  readonly load: (messages: readonly ChatMessage[]) => void
  readonly setToolResult: (messageId: string, callId: string, result: string) => void
  readonly goOn: () => void
}

/** A conversation with a model, kept while the page is open. */
export function useChat(model: string, search: PlaygroundSearch): Chat {
  const [messages, setMessages] = useState<readonly ChatMessage[]>([])
  const running = useRef<AbortController | null>(null)
  const queryClient = useQueryClient()
  useEffect(() => () => running.current?.abort(), [])

  const ask = async (history: readonly ChatMessage[]): Promise<void> => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    let answer = createAnswer(model)
    const show = (change: Partial<AssistantMessage>): void => {
      answer = { ...answer, ...change }
      setMessages([...history, answer])
    }
    show({})
    try {
      const body = buildChatBody(model, history, search)
      for await (const event of streamChat(body, controller.signal)) show(applyEvent(answer, event))
    } catch (error) {
      if (!controller.signal.aborted) show({ error: describeFailure(error) })
      else show({ finishReason: 'stopped' })
    } finally {
      if (running.current === controller) running.current = null
      show({ isStreaming: false, totalMs: performance.now() - answer.startedAtMs })
      void queryClient.invalidateQueries({ queryKey: accountQuery.queryKey })
    }
  }

  const isStreaming = messages.some((message) => message.role === 'assistant' && message.isStreaming)
  return {
    messages,
    isStreaming,
    send: (text, images) => void ask([...messages, { role: 'user', id: crypto.randomUUID(), text, images }]),
    stop: () => running.current?.abort(),
    retry: () => void ask(messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1)),
    clear: () => {
      running.current?.abort()
      setMessages([])
    },
    load: (loaded) => {
      running.current?.abort()
      running.current = null
      setMessages(loaded)
    },
    setToolResult: (messageId, callId, result) =>
      setMessages((old) => old.map((message) => withToolResult(message, messageId, callId, result))),
    goOn: () => {
      if (!needsToolResults(messages)) void ask(messages)
    },
  }
}

function createAnswer(model: string): AssistantMessage {
  return {
    role: 'assistant',
    id: crypto.randomUUID(),
    model,
    text: '',
    reasoning: '',
    toolCalls: [],
    isStreaming: true,
    startedAtMs: performance.now(),
  }
}

function applyEvent(answer: AssistantMessage, event: ChatEvent): Partial<AssistantMessage> {
  const first = { firstTokenMs: answer.firstTokenMs ?? performance.now() - answer.startedAtMs }
  switch (event.kind) {
    case 'start':
      return { requestId: event.requestId, provider: event.provider }
    case 'text':
      return { ...first, text: answer.text + event.text }
    case 'reasoning':
      return { ...first, reasoning: answer.reasoning + event.text }
    case 'tool':
      return { ...first, toolCalls: joinToolCall(answer.toolCalls, event.delta) }
    case 'finish':
      return { finishReason: event.reason }
    case 'usage':
      return { usage: event.usage }
  }
}

function withToolResult(
  message: ChatMessage,
  messageId: string,
  callId: string,
  result: string,
): ChatMessage {
  if (message.role !== 'assistant' || message.id !== messageId) return message
  return {
    ...message,
    toolCalls: message.toolCalls.map((call) => (call.id === callId ? { ...call, result } : call)),
  }
}
