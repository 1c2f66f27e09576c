import type { MessageUsage } from './message-usage.ts'

/** A message of the assistant, complete or before its first block. */
export interface MessageEnvelope {
  /** The id of the answer in the chat format. */
  readonly id: unknown
  readonly model: unknown
  readonly content: readonly object[]
  readonly stopReason: string | null
  readonly stopSequence: string | null
  /** Null until it is known. */
  readonly usage: MessageUsage | null
}

export function envelopMessage(message: MessageEnvelope): object {
  return {
    id: toMessageId(message.id),
    type: 'message',
    role: 'assistant',
    model: message.model,
    content: message.content,
    stop_reason: message.stopReason,
    stop_sequence: message.stopSequence,
    usage: message.usage,
  }
}

function toMessageId(id: unknown): string {
  const own = typeof id === 'string' ? id.replace(/^chatcmpl-/, '') : ''
  return own.startsWith('msg_') ? own : `msg_${own}`
}
