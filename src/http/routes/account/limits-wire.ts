import { Type, type Static } from 'typebox'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { CallerLimits, Limits } from '../../../modules/limits/limits.ts'

const noLimit = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description })

/** The limits of an account, or of a key of it. */
export const LimitsAnswer = Type.Object({
  requests_per_minute: noLimit('How many requests this key may make a minute. Null sets no limit.'),
  tokens_per_minute: noLimit('How many tokens this key may use a minute. Null sets no limit.'),
  concurrent_requests: noLimit('How many requests the account may have running at once. Null sets no limit.'),
  spend_usd_per_minute: Type.Union([Type.Number(), Type.Null()], {
    description: 'What the account may spend a minute. Null sets no limit.',
  }),
  media_bytes_max: noLimit(
    'How many bytes the inputs and results of images, audio and video may take. Null sets no limit.',
  ),
  dataset_bytes_max: noLimit('How many bytes its datasets may take. Null sets no limit.'),
  task_bytes_max: noLimit(
    'How many bytes the requests and results of its tasks may take. Null sets no limit.',
  ),
  stored_response_bytes_max: noLimit(
    'How many bytes the answers kept for its Idempotency-Keys may take. Null sets no limit.',
  ),
  response_bytes_max: noLimit('How many bytes its stored responses may take. Null sets no limit.'),
  file_bytes_max: noLimit('How many bytes the files under `/v1/files` may take. Null sets no limit.'),
})

export const StoredAnswer = Type.Object(
  {
    media_bytes: Type.Integer({ description: 'Of inputs and results of images, audio and video.' }),
    dataset_bytes: Type.Integer({ description: 'Of datasets, with all their versions.' }),
    task_bytes: Type.Integer({ description: 'Of requests and results of tasks.' }),
    stored_response_bytes: Type.Integer({ description: 'Of answers that are kept for Idempotency-Keys.' }),
    response_bytes: Type.Integer({ description: 'Of stored responses, with what was asked.' }),
    file_bytes: Type.Integer({ description: 'Of the files under `/v1/files`.' }),
  },
  { description: 'What the account has stored now.' },
)

export function limitsToWire(limits: CallerLimits): Static<typeof LimitsAnswer> {
  const { spendNanoUsdPerMinute: spend, storedBytesMax: quotas } = limits
  return {
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrent_requests: limits.concurrentRequests,
    spend_usd_per_minute: spend === null ? null : usdFromNanoUsd(spend),
    media_bytes_max: quotas.media,
    dataset_bytes_max: quotas.dataset,
    task_bytes_max: quotas.task,
    stored_response_bytes_max: quotas.stored_response,
    response_bytes_max: quotas.response,
    file_bytes_max: quotas.file,
  }
}

export function storedToWire(
  stored: Awaited<ReturnType<Limits['readStoredBytes']>>,
): Static<typeof StoredAnswer> {
  return {
    media_bytes: stored.media,
    dataset_bytes: stored.dataset,
    task_bytes: stored.task,
    stored_response_bytes: stored.stored_response,
    response_bytes: stored.response,
    file_bytes: stored.file,
  }
}
