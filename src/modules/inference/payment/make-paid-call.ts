import { AppError } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { UpstreamError } from '../../../providers/failures/upstream-error.ts'
import { atBatchPrice, deprecationOf, type CatalogModel } from '../../catalog/catalog.ts'
import type { Hold } from '../../ledger/ledger.ts'
import { AbandonedWork } from '../disconnect/drains.ts'
import { explainFailure } from '../attempts/explain-failure.ts'
import type { InferenceRequest } from '../inference-request.ts'
import type { ContinuedWork } from '../disconnect/continue-after-disconnect.ts'
import type { RequestBill } from './request-bill.ts'
import type { Candidate, CandidateSelector } from '../attempts/select-candidates.ts'

/** A request with its model and the candidates that can serve it. */
export interface ResolvedCall<Body> {
  readonly asked: InferenceRequest<Body>
  readonly model: CatalogModel
  /** The id the client asked for, which may be an alias. The catalog's id if the client named none. */
  readonly requestedModel: string
  /** At least one, in the order to try them. */
  readonly routes: readonly Candidate[]
  /** Since the epoch. */
  readonly startedMs: number
  /** A hash that requests with the same prompt prefix share. */
  readonly affinity: () => number | null
}

/** A request that is checked against its model and whose maximum cost is held. */
export interface PreparedCall<Body, Plan = undefined> {
  readonly hold: Hold
  /** The request to send, which may differ from what the client sent. */
  readonly request: InferenceRequest<Body>
  /** The routes that may be used. */
  readonly candidates: readonly Candidate[]
  /**
   * Set if the work may continue after the client left. Released when the bill is closed, or by an answer that is still open.
   */
  readonly continuedWork?: ContinuedWork
  /** Further data of the operation. */
  readonly plan: Plan
}

/** A call with held credit. */
export interface PaidCall<Body, Plan = undefined> extends Omit<
  PreparedCall<Body, Plan>,
  'hold' | 'continuedWork'
> {
  readonly model: CatalogModel
  readonly requestedModel: string
  readonly startedMs: number
  readonly affinity: () => number | null
  readonly bill: RequestBill
}

/** How the model of a request and its candidates are found. */
export interface ModelSearch<Body> {
  readonly selector: CandidateSelector
  /** Throws if the model cannot do what the request asks for. Without it, `prepare` checks. */
  readonly check?: (model: CatalogModel, asked: InferenceRequest<Body>) => void
  /** Which models a request without a model may get. */
  readonly suits?: (model: CatalogModel) => boolean
  /** For operations that send requests with the same prompt prefix to the same upstream. */
  readonly affinityOf?: (asked: InferenceRequest<Body>) => () => number | null
}

/** The steps from a resolved model to the answer. */
export interface CallSteps<Body, Plan, Answer> {
  /** Checks the request against its model, filters the routes, and holds the maximum cost. */
  readonly prepare: (
    resolved: ResolvedCall<Body>,
  ) => PreparedCall<Body, Plan> | Promise<PreparedCall<Body, Plan>>
  /** Calls upstreams and notes the answer's cost in the bill. */
  readonly perform: (call: PaidCall<Body, Plan>) => Promise<Answer>
  /** Whether the answer is still open: it then settles the bill at its end. */
  readonly isOpen?: (answer: Answer) => boolean
  /** Notes the price of billed work that was not read, unless `perform` does. */
  readonly chargeUnread?: (call: PaidCall<Body, Plan>) => void
}

/** What differs between operations on a model. */
export interface PaidOperation<Body, Plan, Answer> extends ModelSearch<Body>, CallSteps<Body, Plan, Answer> {}

/** The body of a request that may name its model. */
export interface ModelChoice {
  readonly model?: string | null
}

/** Returns the model and its routes. Throws if the model does not exist or no provider serves it to this caller. */
export function resolveCall<Body extends ModelChoice>(
  { selector, check, suits, affinityOf }: ModelSearch<Body>,
  asked: InferenceRequest<Body>,
  clock: Clock,
): ResolvedCall<Body> {
  const { caller, body, record } = asked
  const startedMs = clock.nowMs()
  record.requestedModel = body.model ?? null
  const { batchWay, pricedAtMs = startedMs } = asked
  const found = selector.resolveModel(caller, body.model, suits, pricedAtMs)
  const model = batchWay === undefined ? found : atBatchPrice(found, batchWay)
  record.model = model.id
  record.priceVersion = model.priceVersion ?? null
  record.deprecation = deprecationOf(model, startedMs)
  check?.(model, asked)
  const requestedModel = body.model ?? model.id
  const affinity = affinityOf?.(asked) ?? NO_AFFINITY
  const selected = selector.select(caller, model, requestedModel, affinity)
  const { onlyProvider, handOver } = asked
  const usable = onlyProvider === undefined ? selected : routesTo(onlyProvider, selected, requestedModel)
  // Hours later, an answer of a batch says nothing about the health of the vendor.
  const routes = handOver === undefined ? usable : usable.map((route) => ({ ...route, breaker: null }))
  return { asked, model, requestedModel, routes, startedMs, affinity }
}

function routesTo(
  providerId: string,
  candidates: readonly Candidate[],
  requestedModel: string,
): readonly Candidate[] {
  const found = candidates.filter(({ provider }) => provider.id === providerId)
  if (found.length > 0) return found
  const message = `'${requestedModel}' has no route to '${providerId}' that is configured.`
  throw new AppError('invalid_value', message, { param: 'provider' })
}

const NO_AFFINITY = (): null => null

/** Opens the bill of a request on a hold of the ledger. */
export type OpenBill = (
  hold: Hold,
  request: InferenceRequest<unknown>,
  of: { readonly model: CatalogModel; readonly startedMs: number },
) => RequestBill

/**
 * All paid calls use this function. No upstream is called before credit is held, nothing is charged without an answer, and a
 * complete answer is sent once its charge is durable. Work that a vendor bills after the client left is charged too.
 */
export async function makePaidCall<Body, Plan, Answer>(
  steps: CallSteps<Body, Plan, Answer>,
  resolved: ResolvedCall<Body>,
  openBill: OpenBill,
): Promise<Answer> {
  const { model, requestedModel, startedMs, affinity } = resolved
  const { record, cancellation } = resolved.asked
  let prepared: PreparedCall<Body, Plan> | null = null
  let call: PaidCall<Body, Plan> | null = null
  let isOpen = false
  try {
    const preparing = steps.prepare(resolved)
    prepared = preparing instanceof Promise ? await preparing : preparing
    const { request, candidates, plan } = prepared
    const bill = openBill(prepared.hold, request, { model, startedMs })
    call = { model, requestedModel, startedMs, affinity, request, candidates, plan, bill }
    const answer = await steps.perform(call)
    isOpen = steps.isOpen?.(answer) === true
    if (isOpen) return answer
    const isLeft = cancellation.isCancelled
    record.outcome = isLeft ? 'disconnected' : 'completed'
    await bill.settle({ isDelivered: isLeft })
    return answer
  } catch (error) {
    record.outcome = cancellation.isCancelled ? 'disconnected' : 'failed'
    // The charge was undone, unless its outcome is unknown.
    if (!(error instanceof AppError && error.mayBeDone)) record.isBilled = false
    if (call !== null) {
      const isAbandoned = error instanceof AbandonedWork || prepared?.continuedWork?.isAbandoned === true
      if (isAbandoned) await chargeAbandoned(steps, call)
      call.bill.release()
    }
    throw error instanceof UpstreamError ? explainFailure(error) : error
  } finally {
    if (!isOpen) prepared?.continuedWork?.release()
  }
}

async function chargeAbandoned<Body, Plan>(
  { chargeUnread }: Pick<CallSteps<Body, Plan, unknown>, 'chargeUnread'>,
  call: PaidCall<Body, Plan>,
): Promise<void> {
  if (!call.bill.isOpen) return
  chargeUnread?.(call)
  // The client has left, so there is nobody to report a failure to.
  await call.bill.settle({ isDelivered: true }).catch(() => {})
}
