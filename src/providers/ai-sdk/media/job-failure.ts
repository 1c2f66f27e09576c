import { UpstreamError } from '../../upstream-error.ts'

const MESSAGE_CHARACTERS_MAX = 2_048
const CONTENT_REFUSAL =
  /polic|moderat|safety|nsfw|sensitiv|prohibit|inappropriat|violat|blocked|risk control|DataInspection|responsible ai/i
const INPUT_REFUSAL = /invalid|unsupported|not supported|must be|too (large|small|long|short)/i

interface JobFailure {
  readonly message?: string | undefined
  readonly code?: string | undefined
  /** Where the vendor tells; guessed from its words otherwise. */
  readonly status?: number | undefined
}

/** A job that ended badly: 422 where what was asked for is at fault, so that nobody tries again. */
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

/** Whether a vendor's words say that the content is why, and not its own state. */
export function isContentRefusal(said: string): boolean {
  return CONTENT_REFUSAL.test(said)
}

/** A job that the vendor does not know any more, or never knew. */
export function jobLost(provider: string): UpstreamError {
  return new UpstreamError(`${provider} does not know the job`, {
    failure: 'status',
    provider,
    status: 404,
    hasJobEnded: true,
  })
}

/** An answer without what every answer of its kind has. */
export function invalidAnswer(provider: string, what: string): UpstreamError {
  return new UpstreamError(`${provider} answered without ${what}`, { failure: 'invalid_answer', provider })
}
