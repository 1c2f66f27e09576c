import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { Chat } from '../../chat/chat.ts'
import type { Inference, InferenceRecord } from '../../inference/inference.ts'
import type { Caller } from '../../keys/keys.ts'
import { AnswerText } from './answer-text.ts'
import type { CellUsage } from '../runs/run.ts'

/** One chat call that no client waits for. It has the same limits, holds and charges as a request over HTTP. */
interface ChatCall {
  readonly caller: Caller
  readonly body: ChatRequest
  readonly requestId: string
  readonly cancellation: Cancellation
  /** Called with the text so far when more of it has arrived. */
  readonly onText?: (text: string) => void
}

export interface ChatAnswer {
  readonly output: string
  readonly reasoning: string | null
  readonly toolCalls: readonly unknown[] | null
  readonly finishReason: string | null
  readonly usage: CellUsage | null
  readonly costNanoUsd: NanoUsd
  readonly latencyMs: number
  readonly ttftMs: number | null
  readonly model: string | null
  readonly provider: string | null
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

export type AskChat = (call: ChatCall) => Promise<ChatAnswer>

interface AskChatOptions {
  readonly chat: Pick<Chat, 'chat'>
  readonly inference: Pick<Inference, 'unattended'>
}

/** As its line of the API would be named. */
export const COMPARE_ROUTE = '/v1/compare'

export function createAskChat({ chat, inference }: AskChatOptions): AskChat {
  return async ({ onText, ...call }) => {
    const body = { ...call.body, stream: true, stream_options: { include_usage: true } }
    const text = stringifyJson(body)
    const answer = new AnswerText()
    let record: InferenceRecord | null = null
    try {
      const batches = inference.unattended.stream({
        ...call,
        operation: 'chat',
        route: COMPARE_ROUTE,
        body,
        text,
        bytes: Buffer.byteLength(text),
        start: (request) => chat.chat(request),
        onAdmitted: (begun) => {
          record = begun
        },
      })
      for await (const batch of batches) {
        for (const payload of batch) answer.add(payload)
        onText?.(answer.output)
      }
      // The rest of an answer that nobody wants any more was read only for its cost.
      if (isLeft(record)) throw call.cancellation.reason
    } catch (error) {
      throw record === null ? error : new ChatCallFailed(error, record)
    }
    if (record === null) throw new Error('a call ended that was not admitted')
    return toAnswer(answer, record)
  }
}

function isLeft(record: InferenceRecord | null): boolean {
  return record?.outcome === 'disconnected'
}

function toAnswer(answer: AnswerText, record: InferenceRecord): ChatAnswer {
  const { usage, firstTokenMs } = record
  return {
    ...answer.read(),
    usage,
    costNanoUsd: record.costNanoUsd ?? 0n,
    latencyMs: Math.round(performance.now() - record.startedMs),
    ttftMs: firstTokenMs === null ? null : Math.round(firstTokenMs),
    model: record.model,
    provider: record.provider,
  }
}
