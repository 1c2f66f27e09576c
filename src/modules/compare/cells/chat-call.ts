import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { Chat } from '../../chat/chat.ts'
import type { Inference, InferenceRecord } from '../../inference/inference.ts'
import type { Caller } from '../../keys/keys.ts'
import type { Admission } from '../../limits/limits.ts'
import type { CellUsage } from '../runs/run.ts'
import { AnswerText } from './answer-text.ts'

export interface ChatCallOptions {
  readonly chat: Pick<Chat, 'chat'>
  readonly inference: Pick<Inference, 'unattended'>
}

export interface ChatQuestion {
  readonly caller: Caller
  readonly body: ChatRequest
  readonly requestId: string
  readonly cancellation: Cancellation
  /** The most that it may cost. */
  readonly amountNanoUsdMax?: NanoUsd | undefined
  /** Throws if a limit is reached. Without it the call waits for the limit. */
  readonly admit?: (tokens: number) => Promise<Admission>
}

/** What is known of a call, also of one that failed. */
export interface ToldCall {
  readonly output: string
  readonly reasoning: string | null
  readonly toolCalls: readonly unknown[] | null
  readonly finishReason: string | null
  /** Whether it was cut off because it may not cost more. */
  readonly isCutByAmount: boolean
  readonly usage: CellUsage | null
  readonly costNanoUsd: NanoUsd
  readonly latencyMs: number | null
  readonly ttftMs: number | null
  readonly model: string | null
  readonly provider: string | null
}

/** As its line of the API would be named. */
const ROUTE = '/v1/compare'

/** A chat call of a cell or a lane. It has the same limits, holds and charges as a request over HTTP. */
export class ChatCall {
  readonly #options: ChatCallOptions
  readonly #question: ChatQuestion
  readonly #answer = new AnswerText()
  #record: InferenceRecord | null = null
  #durationMs: number | null = null

  constructor(question: ChatQuestion, options: ChatCallOptions) {
    this.#question = question
    this.#options = options
  }

  /** Null until the limits admit the call. */
  get record(): InferenceRecord | null {
    return this.#record
  }

  /** The text so far. */
  get output(): string {
    return this.#answer.output
  }

  async *batches(): AsyncGenerator<readonly Buffer[], void> {
    const { admit, ...asked } = this.#question
    const body = { ...asked.body, stream: true, stream_options: { include_usage: true } }
    const text = stringifyJson(body)
    try {
      const batches = this.#options.inference.unattended.stream({
        ...asked,
        operation: 'chat',
        route: ROUTE,
        body,
        text,
        bytes: Buffer.byteLength(text),
        start: (request) => this.#options.chat.chat(request),
        ...(admit === undefined ? {} : { admit: ({ tokens }) => admit(tokens) }),
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
    }
  }

  /** Call it after the batches have ended. */
  tell(): ToldCall {
    const record = this.#record
    const firstTokenMs = record?.firstTokenMs ?? null
    const read = this.#answer.read()
    return {
      ...read,
      isCutByAmount: record?.isShortened === true && read.finishReason === 'length',
      usage: record?.usage ?? null,
      costNanoUsd: record?.costNanoUsd ?? 0n,
      latencyMs: this.#durationMs === null ? null : Math.round(this.#durationMs),
      ttftMs: firstTokenMs === null ? null : Math.round(firstTokenMs),
      model: record?.model ?? null,
      provider: record?.provider ?? null,
    }
  }
}
