import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { ChatMessage } from '../../wires/openai-chat/chat-request.ts'
import type { Chat } from '../chat/chat.ts'
import { AnswerText, cellBody, COMPARE_ROUTE } from '../compare/compare.ts'
import type { Inference, InferenceRecord } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import type { Admission } from '../limits/limits.ts'
import type { ConversationLane, Reply } from './conversation.ts'
import type { LaneTurns } from './lane-turns.ts'

/** Events of a lane while it answers. */
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
  readonly inference: Pick<Inference, 'unattended'>
  /** Throws if a limit is reached. */
  readonly admit: AdmitChat
  readonly laneSlots: LaneTurns
}

export type AdmitChat = (caller: Caller, tokens: number) => Admission | Promise<Admission>

const NO_RECORD = { usage: null, costNanoUsd: null, firstTokenMs: null, model: null, provider: null }

/** One lane's call in a turn. `events` never throws, because the other lanes continue. */
export class LaneCall {
  readonly #question: LaneQuestion
  readonly #options: AskLaneOptions
  #record: InferenceRecord | null = null
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

  /** Null until the limits admit the call. */
  get record(): InferenceRecord | null {
    return this.#record
  }

  async *events(): AsyncGenerator<LaneEvent, void> {
    const { lane, requestId, cancellation } = this.#question
    const laneId = lane.id
    let isOver = false
    try {
      for await (const payloads of this.#batches()) yield { kind: 'chunks', laneId, payloads }
      // After a cancellation the stream is read to its end only for its cost.
      isOver = !cancellation.isCancelled
    } catch (error) {
      isOver = true
      this.#error = asError(error)
      yield { kind: 'failed', laneId, requestId, error }
    } finally {
      // The consumer stopped reading.
      if (!isOver) this.#error = asError(cancellation.reason)
    }
  }

  /** Returns the reply. Call it after the events have ended. */
  reply(): Reply {
    const { lane, requestId } = this.#question
    const { usage, costNanoUsd, firstTokenMs, model, provider } = this.#record ?? NO_RECORD
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
    const { lane, messages, ...asked } = this.#question
    const { chat, inference, admit, laneSlots } = this.#options
    const body = { ...cellBody(lane, messages, 0), stream: true, stream_options: { include_usage: true } }
    const text = stringifyJson(body)
    let isInside = false
    try {
      const batches = inference.unattended.stream({
        ...asked,
        operation: 'chat',
        route: COMPARE_ROUTE,
        body,
        text,
        bytes: Buffer.byteLength(text),
        start: (request) => chat.chat(request),
        admit: async ({ tokens }) => {
          const admission = await laneSlots.enter(() => admit(asked.caller, tokens), asked.cancellation)
          isInside = true
          return admission
        },
        onAdmitted: (record) => {
          this.#record = record
        },
      })
      for await (const batch of batches) {
        for (const payload of batch) this.#answer.add(payload)
        yield batch
      }
    } finally {
      if (this.#record !== null) this.#durationMs = performance.now() - this.#record.startedMs
      if (isInside) laneSlots.leave()
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
