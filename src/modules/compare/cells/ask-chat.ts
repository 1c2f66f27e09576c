import type { NanoUsd } from '../../../kernel/money.ts'
import type { InferenceRecord } from '../../inference/inference.ts'
import { ChatCall, type ChatCallOptions, type ChatQuestion, type ToldCall } from './chat-call.ts'

interface AskedChat extends Omit<ChatQuestion, 'admit'> {
  /** Called with the text so far when more of it has arrived. */
  readonly onText?: (text: string) => void
}

export interface ChatAnswer extends ToldCall {
  readonly latencyMs: number
}

/** The call ended without a complete answer. The delivered part is charged. */
export class ChatCallFailed extends Error {
  override readonly name = 'ChatCallFailed'
  readonly costNanoUsd: NanoUsd
  readonly provider: string | null
  readonly model: string | null

  constructor(cause: unknown, { costNanoUsd, provider, model }: InferenceRecord) {
    super('a chat call failed', { cause })
    this.costNanoUsd = costNanoUsd ?? 0n
    this.provider = provider
    this.model = model
  }
}

/** Asks a model where no client waits. */
export type AskChat = (asked: AskedChat) => Promise<ChatAnswer>

export function createAskChat(options: ChatCallOptions): AskChat {
  return async ({ onText, ...question }) => {
    const call = new ChatCall(question, options)
    try {
      for await (const _ of call.batches()) onText?.(call.output)
      // The question was cancelled. The rest of the answer was read only to charge for it.
      if (call.record?.outcome === 'disconnected') throw question.cancellation.reason
    } catch (error) {
      throw call.record === null ? error : new ChatCallFailed(error, call.record)
    }
    const { latencyMs, ...told } = call.tell()
    if (latencyMs === null) throw new Error('a call ended that was not admitted')
    return { ...told, latencyMs }
  }
}
