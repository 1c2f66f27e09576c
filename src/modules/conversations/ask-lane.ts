import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { ChatMessage } from '../../wires/openai-chat/chat-request.ts'
import { cellBody, ChatCall, type ChatCallOptions } from '../compare/compare.ts'
import type { InferenceRecord } from '../inference/inference.ts'
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

export interface AskLaneOptions extends ChatCallOptions {
  /** Throws if a limit is reached. */
  readonly admit: AdmitChat
  readonly laneSlots: LaneTurns
}

export type AdmitChat = (caller: Caller, tokens: number) => Admission | Promise<Admission>

/** One lane's call in a turn. `events` never throws, because the other lanes continue. */
export class LaneCall {
  readonly #question: LaneQuestion
  readonly #options: AskLaneOptions
  readonly #call: ChatCall
  #isInside = false
  #error: Error | null = null

  constructor(question: LaneQuestion, options: AskLaneOptions) {
    this.#question = question
    this.#options = options
    const { lane, messages, ...asked } = question
    this.#call = new ChatCall(
      { ...asked, body: cellBody(lane, messages, 0), admit: (tokens) => this.#enter(tokens) },
      options,
    )
  }

  get error(): Error | null {
    return this.#error
  }

  /** Null until the limits admit the call. */
  get record(): InferenceRecord | null {
    return this.#call.record
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
    return {
      laneId: lane.id,
      requestId,
      status: this.#error === null ? 'completed' : 'failed',
      ...this.#call.tell(),
      error: this.#error === null ? null : this.#explain(this.#error),
    }
  }

  async *#batches(): AsyncGenerator<readonly Buffer[], void> {
    try {
      yield* this.#call.batches()
    } finally {
      if (this.#isInside) this.#options.laneSlots.leave()
    }
  }

  async #enter(tokens: number): Promise<Admission> {
    const { caller, cancellation } = this.#question
    const { admit, laneSlots } = this.#options
    const admission = await laneSlots.enter(() => admit(caller, tokens), cancellation)
    this.#isInside = true
    return admission
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
