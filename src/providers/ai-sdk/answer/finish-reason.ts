import type { LanguageModelV4FinishReason, SharedV4ProviderMetadata } from '@ai-sdk/provider'

import { UpstreamError } from '../../failures/upstream-error.ts'
import { readString } from '../exchange/read-json.ts'

type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

const FINISH_REASONS: Readonly<Record<LanguageModelV4FinishReason['unified'], FinishReason | undefined>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  other: 'stop',
  error: undefined,
  interrupted: undefined,
}

/** Returns OpenAI's finish reason. Throws if the prompt was blocked or the answer is incomplete or empty. */
export function toFinishReason(
  provider: string,
  { unified, raw }: LanguageModelV4FinishReason,
  { isEmpty, metadata }: { isEmpty: boolean; metadata: SharedV4ProviderMetadata | undefined },
): FinishReason {
  const blockReason = readString(metadata, 'google', 'promptFeedback', 'blockReason')
  if (isEmpty && unified === 'content-filter' && blockReason !== undefined) {
    throw new UpstreamError(`${provider} blocked the prompt`, {
      failure: 'status',
      provider,
      status: 400,
      upstreamCode: 'prompt_blocked',
      upstreamMessage: `The prompt was blocked by the model's safety filter (${blockReason}).`,
      upstreamParam: 'messages',
    })
  }
  const finishReason = FINISH_REASONS[unified]
  if (unified === 'interrupted') {
    throw new UpstreamError(`the answer of ${provider} ended too early`, { failure: 'cut', provider })
  }
  if (finishReason === undefined || (isEmpty && raw === undefined)) {
    throw new UpstreamError(`${provider} answered with nothing usable`, {
      failure: 'invalid_answer',
      provider,
      ...(raw === undefined ? {} : { upstreamCode: raw }),
    })
  }
  return finishReason
}

/** Returns the stop sequence at which the answer ended. Vendors without this report return undefined. */
export function readStopSequence(metadata: SharedV4ProviderMetadata | undefined): string | undefined {
  return readString(metadata, 'anthropic', 'stopSequence')
}
