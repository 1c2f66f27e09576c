import { randomInt } from 'node:crypto'
import { LlamaChat, type LlamaContextSequence } from 'node-llama-cpp'
import { parseJson } from '../../../kernel/json/parse-json.ts'
import type { ChatRequest } from './chat-request.ts'
import type { LoadedModel } from './load-model.ts'
import type { GenerationPlan } from './plan-generation.ts'

/** A part of the answer, reported while it is generated. */
export type AnswerPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'call'; readonly index: number; readonly name: string }
  | { readonly kind: 'arguments'; readonly index: number; readonly text: string }

export interface AnswerEnd {
  readonly finishReason: 'stop' | 'length' | 'tool_calls'
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly completionTokens: number
}

interface GenerationOptions {
  readonly loaded: LoadedModel
  readonly plan: GenerationPlan
  readonly request: ChatRequest
  readonly sequence: LlamaContextSequence
  readonly signal: AbortSignal
  readonly onPiece: (piece: AnswerPiece) => void
}

const SEED_MAX = 2 ** 32
/** Sampling defaults, the same as in llama.cpp's own server. */
const DEFAULTS = { temperature: 0.8, topP: 0.95, topK: 40, minP: 0.05 }

/** Generates one answer. Throws the signal's reason if the signal aborts. */
export async function generateAnswer(options: GenerationOptions): Promise<AnswerEnd> {
  const { loaded, plan, request, sequence, signal } = options
  const chat = new LlamaChat({ contextSequence: sequence, chatWrapper: loaded.chatWrapper })
  const meter = sequence.tokenMeter.getState()
  const teller = new PieceTeller(plan, options.onPiece)
  try {
    const { metadata } = await chat.generateResponse(plan.history, {
      ...samplingOf(request),
      maxTokens: plan.tokensMax,
      signal,
      customStopTriggers: stopsOf(request),
      onResponseChunk: ({ segmentType, text }) => teller.tellText(text, segmentType !== undefined),
      ...(plan.functions === null
        ? plan.grammar === null
          ? {}
          : { grammar: plan.grammar }
        : {
            functions: plan.functions,
            documentFunctionParams: true,
            onFunctionCallParamsChunk: ({ callIndex, functionName, paramsChunk, done }) =>
              teller.tellCall(callIndex, functionName, paramsChunk, done),
            ...(request.parallel_tool_calls === false ? { maxParallelFunctionCalls: 1 } : {}),
          }),
    })
    const hasCalled = teller.finish(metadata.stopReason)
    const { usedInputTokens, usedOutputTokens } = sequence.tokenMeter.diff(meter)
    const isCut = metadata.stopReason === 'maxTokens'
    return {
      finishReason: isCut ? 'length' : hasCalled ? 'tool_calls' : 'stop',
      promptTokens: plan.prompt.length,
      cachedTokens: Math.max(0, plan.prompt.length - usedInputTokens),
      completionTokens: usedOutputTokens,
    }
  } finally {
    chat.dispose({ disposeSequence: false })
  }
}

function samplingOf(request: ChatRequest) {
  const { frequency_penalty: frequency, presence_penalty: presence, top_k: topK } = request
  const seed = request.seed ?? randomInt(SEED_MAX)
  return {
    temperature: request.temperature ?? DEFAULTS.temperature,
    topP: request.top_p ?? DEFAULTS.topP,
    topK: topK === -1 ? 0 : (topK ?? DEFAULTS.topK),
    minP: request.min_p ?? DEFAULTS.minP,
    seed: ((seed % SEED_MAX) + SEED_MAX) % SEED_MAX,
    repeatPenalty:
      (frequency ?? 0) === 0 && (presence ?? 0) === 0
        ? (false as const)
        : { penalty: 1, frequencyPenalty: frequency ?? 0, presencePenalty: presence ?? 0 },
  }
}

function stopsOf({ stop }: ChatRequest): string[] {
  return (typeof stop === 'string' ? [stop] : (stop ?? [])).filter((text) => text !== '')
}

/** Reports generated text as text, or as a tool call if the request forced one. */
class PieceTeller {
  readonly #forced: GenerationPlan['forced']
  readonly #onPiece: (piece: AnswerPiece) => void
  readonly #told = new Map<number, string>()
  #held = ''

  constructor({ forced }: GenerationPlan, onPiece: (piece: AnswerPiece) => void) {
    this.#forced = forced
    this.#onPiece = onPiece
  }

  tellText(text: string, isThought: boolean): void {
    if (text === '') return
    if (isThought) this.#onPiece({ kind: 'thought', text })
    else if (this.#forced === null) this.#onPiece({ kind: 'text', text })
    else if (this.#forced.kind === 'one') this.tellCall(0, this.#forced.name, text, false)
    else this.#held += text
  }

  tellCall(index: number, name: string, text: string, isDone: boolean): void {
    const told = this.#told.get(index)
    if (told === undefined) this.#onPiece({ kind: 'call', index, name })
    // A call of a tool without parameters generates no text.
    const added = isDone && (told ?? '') === '' && text === '' ? '{}' : text
    this.#told.set(index, (told ?? '') + added)
    if (added !== '') this.#onPiece({ kind: 'arguments', index, text: added })
  }

  /** Reports a buffered tool call, if there is one. Returns whether any tool was called. */
  finish(stopReason: string): boolean {
    if (this.#forced?.kind === 'any' && stopReason !== 'maxTokens') {
      const call = parseJson(this.#held)
      if (isCall(call)) this.tellCall(0, call.name, JSON.stringify(call.arguments), true)
    }
    return this.#told.size > 0
  }
}

function isCall(value: unknown): value is { name: string; arguments: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string'
}
