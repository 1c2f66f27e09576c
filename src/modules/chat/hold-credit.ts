import { AppError } from '../../kernel/app-error.ts'
import { editJsonObject } from '../../kernel/edit-json-object.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import type { Hold, Ledger } from '../ledger/ledger.ts'
import { outputTokensCovered, type WorstCase } from './estimate-cost.ts'
import type { InferenceRequest } from './inference-request.ts'

/** How the worst case of one operation is found. */
export interface Estimate<Body> {
  /** By the request's bytes: cheap, and far too much. */
  readonly bound: (model: CatalogModel, body: Body, requestBytes: number) => WorstCase
  /** With a tokenizer: dear, and only a little too much. */
  readonly refine: (model: CatalogModel, body: Body, requestBytes: number) => WorstCase
}

interface LimitedRequest {
  readonly max_tokens?: number | null
  readonly max_completion_tokens?: number | null
}

export interface CoveredRequest<Body> {
  readonly hold: Hold
  /** With a shorter answer asked for, when the balance does not cover the whole one. */
  readonly request: InferenceRequest<Body>
}

type HoldLedger = Pick<Ledger, 'hold' | 'knownBalanceNanoUsd'>

/**
 * Sets aside what the request can cost at most. Ample credit is held by the cheap bound; where that does not fit, the
 * prompt is counted; where even that does not, the answer is shortened to what is covered.
 */
export function holdCredit<Body extends LimitedRequest>(
  ledger: HoldLedger,
  estimate: Estimate<Body>,
  model: CatalogModel,
  request: InferenceRequest<Body>,
): CoveredRequest<Body> | Promise<CoveredRequest<Body>> {
  const { caller, body, bytes, cancellation } = request
  const bound = estimate.bound(model, body, bytes)
  const balance = ledger.knownBalanceNanoUsd(caller.accountId)
  if (balance === undefined || balance < bound.wantedNanoUsd) {
    return holdExactly(ledger, estimate, model, request, bound)
  }
  const { wantedNanoUsd } = bound
  const hold = ledger.hold(caller, { wantedNanoUsd, leastNanoUsd: wantedNanoUsd, cancellation })
  if (hold instanceof Promise) {
    return hold.then(
      (held) => ({ hold: held, request }),
      (error: unknown) => {
        if (!isTooLittle(error)) throw error
        return holdExactly(ledger, estimate, model, request, bound)
      },
    )
  }
  return { hold, request }
}

async function holdExactly<Body extends LimitedRequest>(
  ledger: HoldLedger,
  estimate: Estimate<Body>,
  model: CatalogModel,
  request: InferenceRequest<Body>,
  bound: WorstCase,
): Promise<CoveredRequest<Body>> {
  const { caller, body, bytes, cancellation } = request
  const { wantedNanoUsd } = bound
  // An account that was not met before is usually rich enough not to count anything.
  if (ledger.knownBalanceNanoUsd(caller.accountId) === undefined) {
    try {
      const hold = await ledger.hold(caller, { wantedNanoUsd, leastNanoUsd: wantedNanoUsd, cancellation })
      return { hold, request }
    } catch (error) {
      if (!isTooLittle(error)) throw error
    }
  }
  const refined = estimate.refine(model, body, bytes)
  const hold = await ledger.hold(caller, { ...refined, cancellation })
  if (hold.amountNanoUsd >= refined.wantedNanoUsd) return { hold, request }
  return { hold, request: shortenAnswer(request, outputTokensCovered(model, refined, hold.amountNanoUsd)) }
}

function shortenAnswer<Body extends LimitedRequest>(
  request: InferenceRequest<Body>,
  outputTokens: number,
): InferenceRequest<Body> {
  const member =
    typeof request.body.max_completion_tokens === 'number' ? 'max_completion_tokens' : 'max_tokens'
  const body = { ...request.body, [member]: outputTokens }
  const text = editJsonObject(request.text, new Map([[member, String(outputTokens)]])) ?? JSON.stringify(body)
  return { ...request, body, text }
}

function isTooLittle(error: unknown): boolean {
  return (
    error instanceof AppError && (error.code === 'insufficient_balance' || error.code === 'key_limit_reached')
  )
}
