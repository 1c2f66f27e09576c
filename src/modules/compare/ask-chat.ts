import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { stringifyJson } from '../../kernel/stringify-json.ts'
import type { ChatRequest } from '../../providers/chat-wire.ts'
import type { Chat } from '../chat/chat.ts'
import { createInferenceRecord, type InferenceRecord } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import type { Admission, Limits, Refusal } from '../limits/limits.ts'
import { AnswerText } from './answer-text.ts'
import type { CellUsage } from './run.ts'

/** One chat call of a caller who is not waiting at the other end: limited, held, streamed and charged like any other. */
interface ChatCall {
  readonly caller: Caller
  readonly body: ChatRequest
  readonly requestId: string
  readonly cancellation: Cancellation
  /** Called for every chunk, as it comes. */
  readonly onChunk?: (chunk: Record<string, unknown>) => void
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

/** A call that ended without a whole answer. What was delivered of it is charged all the same. */
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

export interface AskChatOptions {
  readonly chat: Pick<Chat, 'chat'>
  readonly limits: Pick<Limits, 'admit'>
  /** Told of every call that has ended. */
  readonly onCall: (call: EndedCall) => void
}

export interface EndedCall {
  /** What was asked, and by whom. */
  readonly call: {
    readonly caller: Caller
    readonly body: ChatRequest
    readonly requestId: string
  }
  readonly record: InferenceRecord
  readonly durationMs: number
  readonly error: unknown
}

const BYTES_PER_TOKEN = 4
const OUTPUT_TOKENS_GUESS = 1_024
/** A rate is waited for, because there is nobody who would come back later. */
const RATE_WAIT_MS_MAX = 15 * 60_000

export function createAskChat({ chat, limits, onCall }: AskChatOptions): AskChat {
  return async (call) => {
    const body = { ...call.body, stream: true, stream_options: { include_usage: true } }
    const text = stringifyJson(body)
    const bytes = Buffer.byteLength(text)
    const { caller, requestId, cancellation } = call
    const admission = await waitForAdmission(limits, call, bytes)
    const record = createInferenceRecord('chat')
    const startedMs = performance.now()
    const answer = new AnswerText()
    let failure: unknown = null
    try {
      const result = await chat.chat({ caller, body, text, bytes, requestId, record, cancellation })
      if (result.kind !== 'stream') throw new Error('a whole answer came back where a stream was asked for')
      for await (const batch of result.batches)
        for (const payload of batch) {
          const chunk = answer.add(payload)
          if (chunk !== null) call.onChunk?.(chunk)
        }
    } catch (error) {
      failure = error
    } finally {
      const { usage, costNanoUsd } = record
      const tokens = usage === null ? 0 : usage.promptTokens + usage.completionTokens
      admission.finish({ tokens, spentNanoUsd: costNanoUsd ?? 0n })
    }
    const durationMs = performance.now() - startedMs
    onCall({ record, durationMs, error: failure, call: { caller, body, requestId } })
    if (failure !== null) throw new ChatCallFailed(failure, record)
    return toAnswer(answer, record, durationMs)
  }
}

function toAnswer(answer: AnswerText, record: InferenceRecord, durationMs: number): ChatAnswer {
  const { usage, firstTokenMs } = record
  return {
    ...answer.read(),
    usage,
    costNanoUsd: record.costNanoUsd ?? 0n,
    latencyMs: Math.round(durationMs),
    ttftMs: firstTokenMs === null ? null : Math.round(firstTokenMs),
    model: record.model,
    provider: record.provider,
  }
}

async function waitForAdmission(
  limits: Pick<Limits, 'admit'>,
  { caller, body, cancellation }: ChatCall,
  bytes: number,
): Promise<Admission> {
  const limit = body.max_completion_tokens ?? body.max_tokens ?? OUTPUT_TOKENS_GUESS
  const tokens = Math.ceil(bytes / BYTES_PER_TOKEN) + limit
  const endMs = performance.now() + RATE_WAIT_MS_MAX
  for (;;) {
    cancellation.throwIfCancelled()
    const outcome = await limits.admit({ caller, category: 'llm', tokens })
    if (outcome.isAdmitted) return outcome
    if (performance.now() > endMs) throw explain(outcome)
    await pause(outcome.retryAfterSeconds * 1000, cancellation)
  }
}

function explain({ layer, retryAfterSeconds }: Refusal): AppError {
  const code = layer === 'tenant_concurrency' ? 'concurrency_limit_reached' : 'rate_limit_exceeded'
  return new AppError(code, 'The limits of this account left no room for the call.', { retryAfterSeconds })
}

/** Ends early when it is cancelled, and says nothing of it. */
export async function pause(timeMs: number, { signal }: Cancellation): Promise<void> {
  await delay(timeMs, undefined, { signal }).catch(() => {})
}
