import type { Cancellation } from '../../kernel/cancellation.ts'
import type { KeyUse } from '../../providers/connection/key-limits.ts'
import { UpstreamError } from '../../providers/failures/upstream-error.ts'
import { attemptRoutes } from './attempts/attempt-routes.ts'
import { beginAttempt, type AttemptOptions } from './attempts/begin-attempt.ts'
import { explainFailure } from './attempts/explain-failure.ts'
import type { InferenceRequest } from './inference-request.ts'
import type { Candidate } from './attempts/select-candidates.ts'

/** What a provider gets with each call. */
export interface UpstreamCall {
  readonly cancellation: Cancellation
  readonly onSent: () => void
  readonly onKey: (use: KeyUse) => void
  readonly traceparent: string | undefined
}

/** Tries the candidates until one returns a complete answer. Throws an `AppError` if none does. */
export type AnswerWhole = <Answer>(
  candidates: readonly Candidate[],
  request: InferenceRequest<unknown>,
  perform: (candidate: Candidate, upstream: UpstreamCall) => Promise<Answer>,
) => Promise<Answer>

export function createAnswerWhole(options: AttemptOptions): AnswerWhole {
  return async (candidates, request, perform) => {
    const { record, cancellation } = request
    const { accountId } = request.caller
    const attempt = async (candidate: Candidate) => {
      const beginning = beginAttempt(candidate, request, options)
      const begun = beginning instanceof Promise ? await beginning : beginning
      try {
        const { cancellation: stop, noteSent: onSent } = begun.work
        const { traceparent, noteKey: onKey } = begun
        const answer = await perform(candidate, { cancellation: stop, onSent, onKey, traceparent })
        begun.work.release()
        candidate.breaker?.succeeded(accountId)
        begun.answered()
        return answer
      } catch (error) {
        begun.failed(error)
        throw error
      }
    }
    try {
      return await attemptRoutes({ candidates, accountId, attempt, cancellation })
    } catch (error) {
      record.outcome = cancellation.isCancelled ? 'disconnected' : 'failed'
      throw error instanceof UpstreamError ? explainFailure(error) : error
    }
  }
}
