import type { Clock } from '../../kernel/clock.ts'
import type { Provider, UpstreamTimeouts } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import { highestPrice, type Catalog, type Category } from '../catalog/catalog.ts'
import type { UncoveredCost, UsageRecord } from '../ledger/ledger.ts'
import type { Limits } from '../limits/limits.ts'
import { createAnswerWhole, type AnswerWhole } from './answer-whole.ts'
import {
  beginAttempt,
  type AcquireSlot,
  type ForwardTrace,
  type Attempt,
  type AttemptOptions,
} from './attempts/begin-attempt.ts'
import { createCircuitBreaker, type BreakerChange, type CircuitBreaker } from './circuit/circuit-breaker.ts'
import { Drains, type DrainLimits, type DrainObserver } from './disconnect/drains.ts'
import type { AttemptRecord, InferenceRecord } from './inference-record.ts'
import type { InferenceRequest } from './inference-request.ts'
import { admitModel } from './payment/admit-model.ts'
import {
  makePaidCall,
  resolveCall,
  type CallSteps,
  type ModelChoice,
  type ModelSearch,
  type OpenBill,
  type PaidOperation,
  type ResolvedCall,
} from './payment/make-paid-call.ts'
import { RequestBill } from './payment/request-bill.ts'
import { vendorCostOf } from './payment/vendor-cost.ts'
import type { MayUseSandbox } from './attempts/sandbox-policy.ts'
import {
  createCandidateSelector,
  type Candidate,
  type CandidateSelector,
} from './attempts/select-candidates.ts'
import { createUnattendedCalls, type EndedCall, type UnattendedCalls } from './payment/unattended-calls.ts'

export { attemptRoutes } from './attempts/attempt-routes.ts'
export type { Attempt } from './attempts/begin-attempt.ts'
export { AmountTooSmall } from './payment/amount-too-small.ts'
export type { CircuitBreaker } from './circuit/circuit-breaker.ts'
export type { UpstreamCall } from './answer-whole.ts'
export { endKeyUses } from './payment/end-key-uses.ts'
export { AbandonedWork } from './disconnect/drains.ts'
export { explainFailure } from './attempts/explain-failure.ts'
export { continueAfterDisconnect, type ContinuedWork } from './disconnect/continue-after-disconnect.ts'
export {
  createInferenceRecord,
  type AskedMembers,
  type AttemptRecord,
  type InferenceRecord,
} from './inference-record.ts'
export type { InferenceRequest } from './inference-request.ts'
export type { InferenceResult, WholeAnswer } from './inference-result.ts'
export { isProbeable, PROBED_CATEGORIES, probeProvider, type Probe } from './circuit/probe-provider.ts'
export {
  demandOf,
  OPERATION_TRAITS,
  outputLimitOf,
  usedUp,
  type Demand,
} from './attempts/operation-traits.ts'
export type {
  CallSteps,
  PaidCall,
  PaidOperation,
  PreparedCall,
  ResolvedCall,
} from './payment/make-paid-call.ts'
export type { RequestBill } from './payment/request-bill.ts'
export { isBreakerFailure } from './attempts/attempt-routes.ts'
export { packDetails, unpackDetails, type AttemptDetails } from './request-details.ts'
export { UpstreamRoom } from './attempts/upstream-room.ts'
export type { Candidate, CandidateSelector } from './attempts/select-candidates.ts'
export {
  interpretCharge,
  mayPass,
  pauseBeforeTry,
  toCallError,
  UNATTENDED_TRIES_MAX,
} from './payment/retry-unattended.ts'
export { createSandboxPolicy, type MayUseSandbox } from './attempts/sandbox-policy.ts'
export {
  createWholeOperation,
  parsePayload,
  type PricedCount,
  type WholeQuestion,
} from './whole-operation.ts'
export { filterMembers } from './attempts/filter-members.ts'
export type { EndedCall } from './payment/unattended-calls.ts'
export type { UpstreamWork } from './disconnect/upstream-work.ts'

/** The steps that all operations on a model share: select candidates, hold credit, try the candidates, charge. */
export interface Inference {
  /** Runs a paid operation, from resolving the model to the charge. */
  pay<Body extends ModelChoice, Plan, Answer>(
    operation: PaidOperation<Body, Plan, Answer>,
    request: InferenceRequest<Body>,
  ): Promise<Answer>
  /** The two halves of `pay`, for callers that make a decision between them. */
  resolve<Body extends ModelChoice>(
    search: ModelSearch<Body>,
    request: InferenceRequest<Body>,
  ): ResolvedCall<Body>
  /** Takes what a resolved call needs of the limits that its project has for the model. `pay` does that itself. */
  admitModel(resolved: ResolvedCall<ModelChoice>, images: number): Promise<void>
  payResolved<Body, Plan, Answer>(
    steps: CallSteps<Body, Plan, Answer>,
    resolved: ResolvedCall<Body>,
  ): Promise<Answer>
  /** Tries the candidates until one returns a complete answer. Throws an `AppError` if none does. */
  readonly answer: AnswerWhole
  /** Selects candidates for models of these categories, among the providers that offer the operation. */
  selectorFor(categories: readonly Category[], isOffered: (provider: Provider) => boolean): CandidateSelector
  /** Begins one attempt, for callers that end it elsewhere. */
  beginAttempt(candidate: Candidate, request: InferenceRequest<unknown>): Attempt | Promise<Attempt>
  /** Calls that do not belong to a client's request. */
  readonly unattended: UnattendedCalls
  /** Answers that are read after their clients left. */
  readonly drains: Drains
}

interface InferenceObserver {
  attempted(attempt: AttemptRecord, request: InferenceRequest<unknown>): void
  /** This process lacks a resource for another connection. */
  ranShort(code: string): void
  breakerChanged(provider: string, upstreamModel: string, change: BreakerChange): void
  readonly drains: DrainObserver
  /** A call ended that does not belong to an HTTP exchange. */
  callEnded(call: EndedCall): void
  /** An answer is complete and charged. */
  completed(charged: UsageRecord, record: InferenceRecord): void
  /** An answer cost more than its account had. */
  uncovered(cost: UncoveredCost): void
}

export interface InferenceOptions {
  readonly catalog: Catalog
  readonly providers: Pick<ProviderRegistry, 'current' | 'get' | 'sandbox' | 'onRetired'>
  readonly clock: Clock
  readonly timeouts: UpstreamTimeouts
  /** Maximum duration of an answer, complete or streamed. */
  readonly durationMsMax: number
  readonly limits: Pick<Limits, 'admit' | 'admitModel'>
  readonly acquireSlot: AcquireSlot
  readonly mayUseSandbox: MayUseSandbox
  readonly drainLimits: DrainLimits
  /** Returns the environment variable that configures a provider, for error messages. */
  readonly variableOf?: (providerId: string) => string | null
  readonly observer: InferenceObserver
  readonly forwardTrace?: ForwardTrace | null
}

export function createInference(options: InferenceOptions): Inference {
  const { catalog, providers, clock, timeouts, observer, variableOf } = options
  // One breaker per route: if a vendor serves one model badly, that says nothing about its other models. A provider whose settings
  // changed is another object, which begins without the failures of the former one.
  const breakers = new WeakMap<Provider, Map<string, CircuitBreaker>>()
  const breakerOf = (provider: Provider, upstreamModel: string): CircuitBreaker => {
    const ofProvider = breakers.get(provider) ?? new Map<string, CircuitBreaker>()
    const known = ofProvider.get(upstreamModel)
    if (known) return known
    const tell = (change: BreakerChange) => observer.breakerChanged(provider.id, upstreamModel, change)
    const breaker = createCircuitBreaker({
      clock,
      // Requests of a removed provider may still end.
      onChange: (change) => {
        if (providers.get(provider.id) === provider) tell(change)
      },
    })
    breakers.set(provider, ofProvider.set(upstreamModel, breaker))
    return breaker
  }
  providers.onRetired((provider) => {
    for (const model of breakers.get(provider)?.keys() ?? [])
      observer.breakerChanged(provider.id, model, { state: 'closed', accounts: 0 })
  })
  const drains = new Drains(options.drainLimits, observer.drains)
  const attemptOptions: AttemptOptions = {
    ...options,
    forwardTrace: options.forwardTrace ?? null,
    drains,
    onAttempt: (attempt, request) => observer.attempted(attempt, request),
    onShortage: (code) => observer.ranShort(code),
  }

  const onCompleted = (charged: UsageRecord, record: InferenceRecord): void =>
    observer.completed(charged, record)
  const onUncovered = (uncovered: UncoveredCost): void => observer.uncovered(uncovered)
  const openBill: OpenBill = (hold, request, { model, startedMs }) =>
    new RequestBill({
      hold,
      ceilingNanoUsd: () => highestPrice(model),
      vendorCostOf: (record, counted) => vendorCostOf(model, record, counted, request.batchWay),
      request,
      startedMs,
      onCompleted,
      onUncovered,
    })

  return {
    drains,
    unattended: createUnattendedCalls({
      limits: options.limits,
      drains,
      onEnded: (call) => observer.callEnded(call),
    }),
    selectorFor: (categories, isOffered) =>
      createCandidateSelector({
        catalog,
        providers,
        breakerOf,
        timeouts,
        categories,
        isOffered,
        mayUseSandbox: options.mayUseSandbox,
        variableOf,
      }),
    beginAttempt: (candidate, request) => beginAttempt(candidate, request, attemptOptions),
    answer: createAnswerWhole(attemptOptions),
    pay: (operation, request) => {
      const resolved = resolveCall(operation, request, clock)
      const admitting = admitModel(options.limits, resolved, 0)
      return admitting === null
        ? makePaidCall(operation, resolved, openBill)
        : admitting.then(() => makePaidCall(operation, resolved, openBill))
    },
    admitModel: async (resolved, images) => {
      await admitModel(options.limits, resolved, images)
    },
    resolve: (search, request) => resolveCall(search, request, clock),
    payResolved: (steps, resolved) => makePaidCall(steps, resolved, openBill),
  }
}
