import { UpstreamError } from '../../failures/upstream-error.ts'

const MESSAGE_CHARACTERS_MAX = 2_048
const CONTENT_REFUSAL =
  /polic|moderat|safety|nsfw|sensitiv|prohibit|inappropriat|violat|blocked|risk control|DataInspection|responsible ai/i
const INPUT_REFUSAL = /invalid|unsupported|not supported|must be|too (large|small|long|short)/i

interface JobFailure {
  readonly message?: string | undefined
  readonly code?: string | undefined
  /** Absent if the vendor reports none. It is then derived from the code and the message. */
  readonly status?: number | undefined
}

/** Returns the error of a failed job. Status 422 means that the input is at fault, so that it is not retried. */
export function jobFailed(provider: string, { message, code, status }: JobFailure): UpstreamError {
  const said = `${code ?? ''} ${message ?? ''}`
  const isContentRefused = isContentRefusal(said)
  const upstreamCode = isContentRefused ? 'content_policy_violation' : code
  return new UpstreamError(`${provider} could not do the work: ${message ?? code ?? 'no reason given'}`, {
    failure: 'status',
    provider,
    status: status ?? (isContentRefused || INPUT_REFUSAL.test(said) ? 422 : 502),
    hasJobEnded: true,
    ...(message === undefined ? {} : { upstreamMessage: message.slice(0, MESSAGE_CHARACTERS_MAX) }),
    ...(upstreamCode === undefined ? {} : { upstreamCode }),
  })
}

/** Returns whether the message says that the content was refused, rather than that the vendor failed. */
export function isContentRefusal(said: string): boolean {
  return CONTENT_REFUSAL.test(said)
}

/** Returns the error for a job that the vendor does not know. */
export function jobLost(provider: string): UpstreamError {
  return new UpstreamError(`${provider} does not know the job`, {
    failure: 'status',
    provider,
    status: 404,
    hasJobEnded: true,
  })
}

/** Returns the error for an answer that lacks a required part. */
export function invalidAnswer(provider: string, what: string): UpstreamError {
  return new UpstreamError(`${provider} answered without ${what}`, { failure: 'invalid_answer', provider })
}
