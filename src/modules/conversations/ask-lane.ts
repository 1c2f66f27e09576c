import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { stringifyJson } from '../../kernel/stringify-json.ts'
import type { ChatMessage } from '../../providers/chat-wire.ts'
import type { Chat } from '../chat/chat.ts'
import { AnswerText, cellBody, type EndedCall } from '../compare/compare.ts'
import { createInferenceRecord, type InferenceRecord } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import type { Admission } from '../limits/limits.ts'
import type { ConversationLane, Reply } from './conversation.ts'
import type { LaneTurns } from './lane-turns.ts'

/** What happens in a lane, as it happens. */
export type LaneEvent =
  | { readonly kind: 'chunks'; readonly laneId: string; readonly payloads: readonly Buffer[] }
  | { readonly kind: 'failed'; readonly laneId: string; readonly requestId: string; readonly error: unknown }

export interface LaneQuestion {
  readonly lane: ConversationLane
  readonly messages: readonly ChatMessage[]
  readonly caller: Caller
  readonly requestId: string
  readonly cancellation: Cancellation
}

export interface AskLaneOptions {
  readonly chat: Pick<Chat, 'chat'>
  /** Throws where a limit leaves no room. */
  readonly admit: AdmitChat
  /** Told of every call that has ended. */
  readonly onCall: (call: EndedCall) => void
  readonly crowd: LaneTurns
}

export type AdmitChat = (caller: Caller, tokens: number) => Admission | Promise<Admission>

const BYTES_PER_TOKEN = 4
const OUTPUT_TOKENS_GUESS = 1_024

/** One lane's part of a turn: a chat call like any other. It never throws, because the other lanes go on. */
export class LaneCall {
  readonly #question: LaneQuestion
  readonly #options: AskLaneOptions
  readonly #record = createInferenceRecord('chat')
  readonly #answer = new AnswerText()
  #error: Error | null = null
  #durationMs: number | null = null

  constructor(question: LaneQuestion, options: AskLaneOptions) {
    this.#question = question
    this.#options = options
  }

  get error(): Error | null {
    return this.#error
  }

  get record(): InferenceRecord {
    return this.#record
  }

  async *events(): AsyncGenerator<LaneEvent, void> {
    const { lane, requestId, cancellation } = this.#question
    const laneId = lane.id
    let isOver = false
    try {
      for await (const payloads of this.#batches()) yield { kind: 'chunks', laneId, payloads }
      // Read to its end for what it costs, and not for what it says.
      isOver = !cancellation.isCancelled
    } catch (error) {
      isOver = true
      this.#error = asError(error)
      yield { kind: 'failed', laneId, requestId, error }
    } finally {
      // Nobody reads on.
      if (!isOver) this.#error = asError(cancellation.reason)
    }
  }

  /** When it is over. */
  reply(): Reply {
    const { lane, requestId } = this.#question
    const { usage, costNanoUsd, firstTokenMs, model, provider } = this.#record
    return {
      laneId: lane.id,
      requestId,
      status: this.#error === null ? 'completed' : 'failed',
      ...this.#answer.read(),
      usage,
      costNanoUsd: costNanoUsd ?? 0n,
      latencyMs: this.#durationMs === null ? null : Math.round(this.#durationMs),
      ttftMs: firstTokenMs === null ? null : Math.round(firstTokenMs),
      model,
      provider,
      error: this.#error === null ? null : this.#explain(this.#error),
    }
  }

  async *#batches(): AsyncGenerator<readonly Buffer[], void> {
    const { lane, messages, caller, requestId, cancellation } = this.#question
    const { chat, admit, onCall, crowd } = this.#options
    const asked = cellBody(lane, messages, 0)
    const body = { ...asked, stream: true, stream_options: { include_usage: true } }
    const text = stringifyJson(body)
    const bytes = Buffer.byteLength(text)
    const limit = body.max_completion_tokens ?? body.max_tokens ?? OUTPUT_TOKENS_GUESS
    const tokens = Math.ceil(bytes / BYTES_PER_TOKEN) + limit
    const admission = await crowd.enter(() => admit(caller, tokens), cancellation)
    const record = this.#record
    const startedMs = performance.now()
    let error: unknown = null
    try {
      const result = await chat.chat({ caller, body, text, bytes, requestId, record, cancellation })
      if (result.kind !== 'stream') throw new Error('a whole answer came back where a stream was asked for')
      for await (const batch of result.batches) {
        for (const payload of batch) this.#answer.add(payload)
        yield batch
      }
    } catch (failure) {
      error = failure
      throw failure
    } finally {
      this.#durationMs = performance.now() - startedMs
      const { usage, costNanoUsd } = record
      const used = usage === null ? 0 : usage.promptTokens + usage.completionTokens
      admission.finish({ tokens: used, spentNanoUsd: costNanoUsd ?? 0n })
      crowd.leave()
      onCall({ record, durationMs: this.#durationMs, error, call: { caller, body, requestId } })
    }
  }

  #explain(error: Error): { code: string; message: string } {
    if (this.#question.cancellation.isCancelled) {
      return { code: 'interrupted', message: 'The answer broke off, because nobody was there to read it.' }
    }
    if (error instanceof AppError) return { code: error.shownCode, message: error.message }
    return { code: 'internal_error', message: 'The gateway made a mistake. It has been logged.' }
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('a lane broke off', { cause: reason })
}
