import type { Clock } from '../../kernel/clock.ts'
import { UpstreamError } from '../../providers/upstream-error.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import type { Hold } from '../ledger/ledger.ts'
import { AbandonedWork } from './drains.ts'
import { explainFailure } from './explain-failure.ts'
import type { InferenceRequest } from './inference-request.ts'
import type { Linger } from './linger-after.ts'
import type { RequestBill } from './request-bill.ts'
import type { Candidate, CandidateSelector } from './select-candidates.ts'

/** A request whose model is known, and who can serve it. */
export interface ResolvedCall<Body> {
  readonly asked: InferenceRequest<Body>
  readonly model: CatalogModel
  /** The id the client asked for, which may be an alias; that of the catalog where it named none. */
  readonly requestedModel: string
  /** At least one, in the order they are to be tried. */
  readonly routes: readonly Candidate[]
  /** Since the epoch. */
  readonly startedMs: number
  /** Of requests whose prompts begin alike. */
  readonly affinity: () => number | null
}

/** A request that can be sent: it was checked against its model, and what it can cost at most is held. */
export interface PreparedCall<Body, Plan = undefined> {
  readonly hold: Hold
  /** As it is sent, which may differ from what was asked. */
  readonly request: InferenceRequest<Body>
  /** Those of the routes that may be asked. */
  readonly candidates: readonly Candidate[]
  /** Where the work may go on after the client left. Released when the bill is closed, or by an answer that is open. */
  readonly linger?: Linger
  /** What else the operation has to know. */
  readonly plan: Plan
}

/** A call that credit is held for. */
export interface PaidCall<Body, Plan = undefined> extends Omit<PreparedCall<Body, Plan>, 'hold' | 'linger'> {
  readonly model: CatalogModel
  readonly requestedModel: string
  readonly startedMs: number
  readonly affinity: () => number | null
  readonly bill: RequestBill
}

/** How the model of a request is found, and who can serve it. */
export interface ModelSearch<Body> {
  readonly selector: CandidateSelector
  /** Throws where the model cannot do what is asked for. Elsewhere `prepare` finds out. */
  readonly check?: (model: CatalogModel, asked: InferenceRequest<Body>) => void
  /** Where requests whose prompts begin alike go to the same upstream. */
  readonly affinityOf?: (asked: InferenceRequest<Body>) => () => number | null
}

/** How a request is paid for and answered once its model is known. */
export interface CallSteps<Body, Plan, Answer> {
  /** Checks the request against its model, keeps those that may be asked, and sets aside what it can cost at most. */
  readonly prepare: (
    resolved: ResolvedCall<Body>,
  ) => PreparedCall<Body, Plan> | Promise<PreparedCall<Body, Plan>>
  /** Asks upstreams, and notes in the bill what the answer costs. */
  readonly perform: (call: PaidCall<Body, Plan>) => Promise<Answer>
  /** Whether an answer goes on after it has begun: then it settles the bill where it ends. */
  readonly isOpen?: (answer: Answer) => boolean
  /** Notes the price of what a vendor worked on and nobody read, unless `perform` does. */
  readonly chargeUnread?: (call: PaidCall<Body, Plan>) => void
}

/** What differs from one operation on a model to the next. */
export interface PaidOperation<Body, Plan, Answer> extends ModelSearch<Body>, CallSteps<Body, Plan, Answer> {}

/** The body of a request that may name its model. */
export interface ModelChoice {
  readonly model?: string | null
}

/** The model and its routes. Throws where there is no such model, or nobody who serves it to this caller. */
export function resolveCall<Body extends ModelChoice>(
  { selector, check, affinityOf }: ModelSearch<Body>,
  asked: InferenceRequest<Body>,
  clock: Clock,
): ResolvedCall<Body> {
  const { caller, body, record } = asked
  const startedMs = clock.nowMs()
  const model = selector.resolveModel(caller, body.model)
  record.model = model.id
  check?.(model, asked)
  const requestedModel = body.model ?? model.id
  const affinity = affinityOf?.(asked) ?? NO_AFFINITY
  const routes = selector.select(caller, model, requestedModel, affinity)
  return { asked, model, requestedModel, routes, startedMs, affinity }
}

const NO_AFFINITY = (): null => null

/** The money of one request, out of a hold on the ledger. */
export type OpenBill = (hold: Hold, request: InferenceRequest<unknown>, startedMs: number) => RequestBill

/**
 * Everything that costs money goes this way: nobody is asked before credit is held, nothing is charged without an answer, and a
 * whole answer leaves when its charge is durable. What a vendor bills although nobody waited for it is charged too.
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
    const bill = openBill(prepared.hold, request, startedMs)
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
    if (call !== null) {
      const isAbandoned = error instanceof AbandonedWork || prepared?.linger?.isAbandoned === true
      if (isAbandoned) await chargeAbandoned(steps, call)
      call.bill.release()
    }
    throw error instanceof UpstreamError ? explainFailure(error) : error
  } finally {
    if (!isOpen) prepared?.linger?.release()
  }
}

async function chargeAbandoned<Body, Plan>(
  { chargeUnread }: Pick<CallSteps<Body, Plan, unknown>, 'chargeUnread'>,
  call: PaidCall<Body, Plan>,
): Promise<void> {
  if (!call.bill.isOpen) return
  chargeUnread?.(call)
  // Nobody is there to be told that it failed.
  await call.bill.settle({ isDelivered: true }).catch(() => {})
}
