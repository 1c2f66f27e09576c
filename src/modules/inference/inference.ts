import type { Clock } from '../../kernel/clock.ts'
import type { Provider, UpstreamTimeouts } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import type { Catalog, Category } from '../catalog/catalog.ts'
import type { UncoveredCost } from '../ledger/ledger.ts'
import type { Limits } from '../limits/limits.ts'
import { createAnswerWhole, type AnswerWhole } from './answer-whole.ts'
import { beginAttempt, type AcquireSlot, type Attempt, type AttemptOptions } from './begin-attempt.ts'
import { createCircuitBreaker, type BreakerChange, type CircuitBreaker } from './circuit-breaker.ts'
import { Drains, type DrainLimits, type DrainObserver } from './drains.ts'
import type { AttemptRecord } from './inference-record.ts'
import type { InferenceRequest } from './inference-request.ts'
import {
  makePaidCall,
  resolveCall,
  type CallSteps,
  type ModelChoice,
  type ModelSearch,
  type OpenBill,
  type PaidOperation,
  type ResolvedCall,
} from './make-paid-call.ts'
import { RequestBill } from './request-bill.ts'
import type { MayUseSandbox } from './sandbox-policy.ts'
import { createCandidateSelector, type Candidate, type CandidateSelector } from './select-candidates.ts'
import { createUnattendedCalls, type EndedCall, type UnattendedCalls } from './unattended-calls.ts'

export { attemptRoutes } from './attempt-routes.ts'
export type { Attempt } from './begin-attempt.ts'
export type { CircuitBreaker } from './circuit-breaker.ts'
export { AbandonedWork } from './drains.ts'
export { explainFailure } from './explain-failure.ts'
export { lingerAfter, type Linger } from './linger-after.ts'
export { createInferenceRecord, type AskedMembers, type InferenceRecord } from './inference-record.ts'
export type { InferenceRequest } from './inference-request.ts'
export type { InferenceResult, WholeAnswer } from './inference-result.ts'
export { demandOf, OPERATION_TRAITS, outputLimitOf, usedUp, type Demand } from './operation-traits.ts'
export type { CallSteps, PaidCall, PaidOperation, PreparedCall, ResolvedCall } from './make-paid-call.ts'
export type { RequestBill } from './request-bill.ts'
export type { Candidate, CandidateSelector } from './select-candidates.ts'
export {
  interpretCharge,
  mayPass,
  pauseBeforeTry,
  toCallError,
  UNATTENDED_TRIES_MAX,
} from './retry-unattended.ts'
export { createSandboxPolicy, type MayUseSandbox } from './sandbox-policy.ts'
export { createWholeOperation, invalidAnswer, parsePayload, type WholeQuestion } from './whole-operation.ts'
export { countInputs, countTokenIds, textsOf, type TextInput } from './text-input.ts'
export {
  countVocabularyTokens,
  OPENAI_VOCABULARY,
  OTHER_VOCABULARY,
  TextTokens,
  type TextVocabulary,
} from './text-tokens.ts'
export { screenMembers } from './screen-members.ts'
export type { EndedCall } from './unattended-calls.ts'
export type { UpstreamWork } from './upstream-work.ts'
export { formatUsage, hasUsed, mergeUsage, readCount, readUsage, type TokenUsage } from './token-usage.ts'

/** What every operation on a model does: find who can serve it, set credit aside, try one after the other, charge. */
export interface Inference {
  /** Everything that costs money: from the model's name to the charge. */
  pay<Body extends ModelChoice, Plan, Answer>(
    operation: PaidOperation<Body, Plan, Answer>,
    request: InferenceRequest<Body>,
  ): Promise<Answer>
  /** The two halves of it, for who decides between them what becomes of the request. */
  resolve<Body extends ModelChoice>(
    search: ModelSearch<Body>,
    request: InferenceRequest<Body>,
  ): ResolvedCall<Body>
  payResolved<Body, Plan, Answer>(
    steps: CallSteps<Body, Plan, Answer>,
    resolved: ResolvedCall<Body>,
  ): Promise<Answer>
  /** Tries the candidates until one has answered as a whole. Throws an `AppError` when none does. */
  readonly answer: AnswerWhole
  /** For models of these categories, among providers that offer the operation. */
  selectorFor(categories: readonly Category[], isOffered: (provider: Provider) => boolean): CandidateSelector
  /** One attempt, for who ends it elsewhere than where it began. */
  beginAttempt(candidate: Candidate, request: InferenceRequest<unknown>): Attempt | Promise<Attempt>
  /** Calls that no request of a client is for. */
  readonly unattended: UnattendedCalls
  /** Answers that are read on though their clients left. */
  readonly drains: Drains
}

interface InferenceObserver {
  attempted(attempt: AttemptRecord): void
  /** A connection could not be made because this process is short of something. */
  ranShort(code: string): void
  breakerChanged(provider: string, upstreamModel: string, change: BreakerChange): void
  readonly drains: DrainObserver
  /** A call ended that no exchange belongs to. */
  callEnded(call: EndedCall): void
  /** An answer cost more than its account had. */
  uncovered(cost: UncoveredCost): void
}

export interface InferenceOptions {
  readonly catalog: Catalog
  readonly providers: ProviderRegistry
  readonly clock: Clock
  readonly timeouts: UpstreamTimeouts
  /** The longest an answer may take, whole or streamed. */
  readonly durationMsMax: number
  readonly limits: Pick<Limits, 'admit'>
  readonly acquireSlot: AcquireSlot
  readonly mayUseSandbox: MayUseSandbox
  readonly drainLimits: DrainLimits
  /** The environment variable that configures a provider, for the message that it is not. */
  readonly variableOf?: (providerId: string) => string | null
  readonly observer: InferenceObserver
}

export function createInference(options: InferenceOptions): Inference {
  const { catalog, providers, clock, timeouts, observer, variableOf } = options
  const breakers = new Map<string, CircuitBreaker>()
  // As many as there are routes: a model that its vendor serves badly says nothing about the vendor's other ones.
  const breakerOf = (provider: string, upstreamModel: string): CircuitBreaker => {
    const name = `${provider} ${upstreamModel}`
    const known = breakers.get(name)
    if (known) return known
    const onChange = (change: BreakerChange) => observer.breakerChanged(provider, upstreamModel, change)
    const breaker = createCircuitBreaker({ clock, onChange })
    breakers.set(name, breaker)
    return breaker
  }
  const drains = new Drains(options.drainLimits, observer.drains)
  const attemptOptions: AttemptOptions = {
    ...options,
    drains,
    onAttempt: (attempt) => observer.attempted(attempt),
    onShortage: (code) => observer.ranShort(code),
  }

  const openBill: OpenBill = (hold, request, startedMs) =>
    new RequestBill({
      hold,
      request,
      startedMs,
      onUncovered: (uncovered) => observer.uncovered(uncovered),
    })

  return {
    drains,
    unattended: createUnattendedCalls({
      limits: options.limits,
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
    pay: (operation, request) => makePaidCall(operation, resolveCall(operation, request, clock), openBill),
    resolve: (search, request) => resolveCall(search, request, clock),
    payResolved: (steps, resolved) => makePaidCall(steps, resolved, openBill),
  }
}
