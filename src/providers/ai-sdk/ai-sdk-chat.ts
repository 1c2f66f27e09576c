import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider'

import { systemClock } from '../../kernel/clock.ts'
import { createToken } from '../../kernel/identifiers.ts'
import type { CompleteAnswer, InferenceCall, InferenceOperation, StreamAnswer } from '../provider.ts'
import { tokensInAdvance } from '../connection/key-limits.ts'
import type { UpstreamError } from '../failures/upstream-error.ts'
import type { AiSdkProviderOptions } from './lazy-provider.ts'
import { openPartStream } from './answer/part-stream.ts'
import { streamChoices } from './answer/stream-choices.ts'
import { toUpstreamError } from './exchange/to-upstream-error.ts'
import { translateRequest } from './request/translate-request.ts'
import type { UpstreamExchange } from './exchange/upstream-exchange.ts'
import { createVendorCalls } from './exchange/vendor-calls.ts'
import type { Vendor } from './vendor.ts'
import { toCompletion, toCompletionChoice, type AnswerHead } from './answer/write-completion.ts'
import { writtenAnswer } from '../answers/written-answer.ts'

/** Serves chat with a vendor that does not speak OpenAI's wire. Calls its AI SDK package and translates both ways. */
export function createAiSdkChat(vendor: Vendor, options: AiSdkProviderOptions): InferenceOperation {
  const { baseUrl = vendor.defaultBaseUrl, clock = systemClock } = options
  const provider = vendor.key
  const { name = provider } = vendor
  const calls = createVendorCalls(name, options)

  const attempt = <T>(call: InferenceCall, signal: AbortSignal, run: Run<T>): Promise<T> =>
    calls.attempt(
      {
        timeouts: call.timeouts,
        signal,
        onSent: call.onSent,
        handOver: call.handOver === undefined ? undefined : { to: call.handOver, baseUrl },
        onKey: call.onKey,
        tokens: tokensInAdvance(call.text),
        expectsEvents: call.body.stream === true,
        affinity: call.affinity,
      },
      async ({ apiKey, exchange }) => {
        const settings = { modelId: call.upstreamModel, apiKey, baseUrl, fetch: exchange.fetch }
        return run(await vendor.createModel(settings), exchange)
      },
    )

  async function complete(call: InferenceCall, head: AnswerHead): Promise<CompleteAnswer> {
    const choices = await runAll(call, (signal, choiceIndex) =>
      attempt(call, signal, async (model) => {
        const result = await model.doGenerate(translate(call, choiceIndex, signal))
        return toCompletionChoice(provider, result)
      }),
    )
    return writtenAnswer(toCompletion(head, choices))
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
    return toUpstreamError(name, error, { wasRequestSent: true, nowMs: clock.nowMs() })
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

/** Makes one upstream call for each choice, because neither vendor supports `n`. The first failure aborts the others. */
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
