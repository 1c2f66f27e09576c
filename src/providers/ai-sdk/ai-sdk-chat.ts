import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'

import { systemClock } from '../../kernel/clock.ts'
import { createToken } from '../../kernel/identifiers.ts'
import { createCredentialRing } from '../credential-ring.ts'
import type { CompleteAnswer, InferenceCall, InferenceOperation, StreamAnswer } from '../provider.ts'
import type { UpstreamError } from '../upstream-error.ts'
import { createKeepAliveAgents } from './keep-alive-agents.ts'
import type { AiSdkProviderOptions } from './lazy-provider.ts'
import { openPartStream } from './part-stream.ts'
import { streamChoices } from './stream-choices.ts'
import { toUpstreamError } from './to-upstream-error.ts'
import { translateRequest } from './translate-request.ts'
import { defaultExchangeLimits, UpstreamExchange } from './upstream-exchange.ts'
import type { Vendor } from './vendor.ts'
import { toCompletionChoice, writeCompletion, type AnswerHead } from './write-completion.ts'

/** A vendor that does not speak OpenAI's wire, spoken to through its AI SDK package and translated both ways. */
export function createAiSdkChat(vendor: Vendor, options: AiSdkProviderOptions): InferenceOperation {
  const { apiKeys, baseUrl = vendor.defaultBaseUrl, clock = systemClock } = options
  const provider = vendor.key
  const limits = { ...defaultExchangeLimits, ...options.limits }
  const keys = createCredentialRing(apiKeys, { clock })
  const agents = createKeepAliveAgents()

  /** Runs one upstream call, with another key where the first is refused. The caller owns every other retry. */
  async function attempt<T>(call: InferenceCall, signal: AbortSignal, run: Run<T>): Promise<T> {
    for (let attempts = 1; ; attempts += 1) {
      signal.throwIfAborted()
      const apiKey = keys.take()
      const exchange = new UpstreamExchange({
        provider,
        dispatcher: agents.choose(call.timeouts.connectMs),
        timeouts: call.timeouts,
        limits,
        expectsEvents: call.body.stream === true,
        signal,
      })
      try {
        const settings = { modelId: call.upstreamModel, apiKey, baseUrl, fetch: exchange.fetch }
        return await run(await vendor.createModel(settings), exchange)
      } catch (error) {
        const { wasRequestSent } = exchange
        const failure =
          exchange.failure ?? toUpstreamError(provider, error, { wasRequestSent, nowMs: clock.nowMs() })
        exchange.cancel()
        signal.throwIfAborted()
        if (!isKeyAtFault(failure)) throw failure
        keys.rest(apiKey, chooseRestMs(failure))
        if (attempts >= Math.min(keys.size, KEYS_TRIED_MAX)) throw failure
      }
    }
  }

  async function complete(call: InferenceCall, head: AnswerHead): Promise<CompleteAnswer> {
    const choices = await runAll(call, (signal, choiceIndex) =>
      attempt(call, signal, async (model) => {
        const result = await model.doGenerate(translate(call, choiceIndex, signal))
        return toCompletionChoice(provider, result)
      }),
    )
    return { kind: 'complete', payload: writeCompletion(head, choices) }
  }

  async function stream(call: InferenceCall, head: AnswerHead): Promise<StreamAnswer> {
    const opened = await runAll(call, (signal, choiceIndex) =>
      attempt(call, signal, async (model, exchange) => {
        const result = await model.doStream(translate(call, choiceIndex, signal))
        return openPartStream(result, { provider, exchange, toError })
      }),
    )
    const showsNullUsage = call.body.stream_options?.include_usage === true
    return streamChoices(opened, { provider, head, showsNullUsage }, call.cancellation.signal)
  }

  function toError(error: unknown): UpstreamError {
    return toUpstreamError(provider, error, { wasRequestSent: true, nowMs: clock.nowMs() })
  }

  function translate(
    call: InferenceCall,
    choiceIndex: number,
    signal: AbortSignal,
  ): LanguageModelV4CallOptions {
    return { ...translateRequest(call, vendor, choiceIndex), abortSignal: signal }
  }

  return async (call) => {
    const created = Math.floor(clock.nowMs() / 1000)
    const head = { id: createToken('chatcmpl-'), created, model: call.body.model }
    return call.body.stream === true ? stream(call, head) : complete(call, head)
  }
}

type Run<T> = (model: LanguageModelV4, exchange: UpstreamExchange) => Promise<T>

const KEYS_TRIED_MAX = 4

/** One upstream call a choice, because neither vendor has `n`. The first that fails ends the others. */
async function runAll<T>(
  call: InferenceCall,
  run: (signal: AbortSignal, choiceIndex: number) => Promise<T>,
): Promise<T[]> {
  const group = new AbortController()
  const signal = AbortSignal.any([call.cancellation.signal, group.signal])
  try {
    const choices = Array.from({ length: call.body.n ?? 1 }, (_, choiceIndex) => run(signal, choiceIndex))
    return await Promise.all(choices)
  } catch (error) {
    group.abort(error)
    throw error
  }
}

const REFUSED_KEY_REST_MS = 60_000
const THROTTLED_KEY_REST_MS = 5_000

function isKeyAtFault({ details: { failure, status } }: UpstreamError): boolean {
  return failure === 'status' && (status === 401 || status === 403 || status === 429)
}

function chooseRestMs({ details: { status, retryAfterSeconds } }: UpstreamError): number {
  if (status !== 429) return REFUSED_KEY_REST_MS
  return Math.min((retryAfterSeconds ?? THROTTLED_KEY_REST_MS / 1000) * 1000, REFUSED_KEY_REST_MS)
}
