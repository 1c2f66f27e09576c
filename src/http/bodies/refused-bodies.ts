import { AppError } from '../../kernel/app-error.ts'
import type { Caller } from '../../modules/keys/keys.ts'
import { explainRefusal, type Limits } from '../../modules/limits/limits.ts'
import { ERROR_CATALOGUE, toAppError } from '../answers/error-envelope.ts'
import type { Exchange } from '../exchange.ts'
import type { UnauthenticatedGuard } from '../connections/guard-unauthenticated.ts'
import type { RequestMessage } from '../message.ts'

/** Counts refused bodies for both kinds of routes, because reading them costs as much as reading valid ones. */
export interface RefusedBodies {
  /** Throws before reading a body if refused bodies have used up the rates of the key. */
  requireTurn(caller: Caller, incoming: RequestMessage): void
  /** Returns the error for the client: the given one, or a rate limit error. Returns a promise only if a body was refused. */
  count(error: unknown, exchange: Exchange): unknown
}

interface RefusedBodiesOptions {
  readonly limits: Pick<Limits, 'countRefused' | 'secondsToRest'>
  readonly guard: Pick<UnauthenticatedGuard, 'admitVisitor'>
}

const BYTES_PER_TOKEN = 4
const REFUSED_STATUSES: ReadonlySet<number> = new Set([400, 413, 415])
const BODILESS_METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

export function createRefusedBodies({ limits, guard }: RefusedBodiesOptions): RefusedBodies {
  const countOfKey = async (caller: Caller, error: unknown, bytes: number): Promise<unknown> => {
    try {
      const refusal = await limits.countRefused({ caller, tokens: Math.ceil(bytes / BYTES_PER_TOKEN) })
      return refusal === null ? error : explainRefusal(refusal)
    } catch {
      // While the database is unavailable, return the original error.
      return error
    }
  }

  return {
    requireTurn(caller, { method }) {
      if (BODILESS_METHODS.has(method)) return
      const seconds = limits.secondsToRest(caller)
      if (seconds === 0) return
      const message = `Too many requests of this key were refused for what they held. Try again in ${seconds} s.`
      throw new AppError('rate_limit_exceeded', message, { retryAfterSeconds: seconds })
    },
    count(error, exchange) {
      const { caller, incoming, inference, requestBytes, route } = exchange
      // Inference requests were counted when they were admitted.
      if (inference !== null || route === 'unmatched' || BODILESS_METHODS.has(incoming.method)) return error
      if (!REFUSED_STATUSES.has(ERROR_CATALOGUE[toAppError(error).code].status)) return error
      if (caller !== null) return countOfKey(caller, error, requestBytes)
      try {
        guard.admitVisitor(incoming)
        return error
      } catch (refusal) {
        return refusal
      }
    },
  }
}
