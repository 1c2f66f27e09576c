import { editJsonObject } from '../../../kernel/json/edit-json-object.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { CatalogModel } from '../../catalog/catalog.ts'
import { isRefusal, type Hold, type Ledger } from '../../ledger/ledger.ts'
import { outputTokensCovered, type WorstCase } from './estimate-cost.ts'
import { AmountTooSmall, type InferenceRequest } from '../../inference/inference.ts'
import { labelsOf } from '../../keys/keys.ts'
import { boundHourCache } from './hour-cache.ts'
import { boundThinking, shortenThinking } from './thinking-budget.ts'

/** The limits of OpenAI's chat and completions requests. */
export const CHAT_LIMITS: readonly string[] = ['max_completion_tokens', 'max_tokens']

/** How the maximum cost of an operation is estimated. */
export interface Estimate<Body> {
  /** Estimates from the request's bytes: cheap, but far too high. */
  readonly bound: (model: CatalogModel, body: Body, requestBytes: number) => WorstCase
  /** Estimates with a tokenizer: expensive, but only a little too high. */
  readonly refine: (model: CatalogModel, body: Body, requestBytes: number) => WorstCase
  /** Throws if the prompt is longer than the model's context. Called only if the byte bound exceeds the context. */
  readonly checkContext: (model: CatalogModel, body: Body) => void
  /** Whether an answer without a limit may be as long as the model allows. If false, a limit is always sent. */
  readonly isLimitedByModel: boolean
  /** The members that limit the answer, in order of precedence. */
  readonly limitMembers: readonly string[]
}

/** Returns the client's limit on the answer, or null if it sets none. */
function outputLimitOf(body: object, { limitMembers }: Pick<Estimate<never>, 'limitMembers'>): number | null {
  const member = findLimit(body, limitMembers)
  return member === null ? null : Number(Reflect.get(body, member))
}

function findLimit(body: object, members: readonly string[]): string | null {
  return members.find((name) => typeof Reflect.get(body, name) === 'number') ?? null
}

export interface CoveredRequest<Body> {
  readonly hold: Hold
  /** Asks for a shorter answer if the balance does not cover the complete one. */
  readonly request: InferenceRequest<Body>
}

type HoldLedger = Pick<Ledger, 'hold' | 'holdAtOnce' | 'knownBalanceNanoUsd'>

/**
 * Holds the maximum cost of the request. If the balance does not cover the cheap bound, counts the prompt with a tokenizer. If it
 * does not cover that either, shortens the answer to what it covers.
 */
export function holdWorstCase<Body extends object>(
  ledger: HoldLedger,
  estimate: Estimate<Body>,
  model: CatalogModel,
  request: InferenceRequest<Body>,
  atMs: number,
): CoveredRequest<Body> | Promise<CoveredRequest<Body>> {
  const bound = boundRequest(estimate.bound(model, request.body, request.bytes), request)
  if (model.contextTokens !== null && bound.promptTokensMax > model.contextTokens)
    estimate.checkContext(model, request.body)
  const { wantedNanoUsd } = bound
  const { amountNanoUsdMax } = request
  if (amountNanoUsdMax !== undefined && amountNanoUsdMax < wantedNanoUsd)
    return holdWithin(ledger, estimate, model, request, { atMs, amountNanoUsdMax })
  const labels = labelsOf(request.caller)
  const hold = ledger.holdAtOnce(request.caller, { wantedNanoUsd, atMs, model: model.id, labels })
  if (hold === null) return holdBound(ledger, estimate, model, request, { atMs, bound })
  return { hold, request: limitAnswer(request, estimate, bound, bound.outputTokensMax) }
}

/** Holds no more than the amount that the request may cost, and shortens the answer to what that covers. */
async function holdWithin<Body extends object>(
  ledger: HoldLedger,
  estimate: Estimate<Body>,
  model: CatalogModel,
  request: InferenceRequest<Body>,
  { atMs, amountNanoUsdMax }: { atMs: number; amountNanoUsdMax: NanoUsd },
): Promise<CoveredRequest<Body>> {
  const { caller, cancellation, record } = request
  const worstCase = boundRequest(estimate.refine(model, request.body, request.bytes), request)
  const { leastNanoUsd } = worstCase
  if (amountNanoUsdMax < leastNanoUsd) throw new AmountTooSmall(leastNanoUsd)
  const hold = await ledger.hold(caller, {
    wantedNanoUsd: smallerOf(worstCase.wantedNanoUsd, amountNanoUsdMax),
    leastNanoUsd,
    model: model.id,
    labels: labelsOf(caller),
    atMs,
    isPatient: true,
    sinceMs: performance.now(),
    cancellation,
  })
  const outputTokens = outputTokensCovered(worstCase, smallerOf(hold.amountNanoUsd, amountNanoUsdMax))
  record.isShortened = outputTokens < worstCase.outputTokensMax
  return { hold, request: limitAnswer(request, estimate, worstCase, outputTokens) }
}

function smallerOf(one: NanoUsd, other: NanoUsd): NanoUsd {
  return one < other ? one : other
}

/** Adds the cost of an hour cache and of a thinking budget. */
export function boundRequest<Body extends object>(
  worstCase: WorstCase,
  { body, text }: InferenceRequest<Body>,
): WorstCase {
  return boundThinking(boundHourCache(worstCase, text), body)
}

/** Holds the byte bound, unless the balance is known to be lower. */
async function holdBound<Body extends object>(
  ledger: HoldLedger,
  estimate: Estimate<Body>,
  model: CatalogModel,
  request: InferenceRequest<Body>,
  { atMs, bound }: { atMs: number; bound: WorstCase },
): Promise<CoveredRequest<Body>> {
  const { caller, cancellation } = request
  const balance = ledger.knownBalanceNanoUsd(caller.accountId)
  const { wantedNanoUsd } = bound
  const isAmple = balance !== undefined && balance >= wantedNanoUsd
  // A request that calls `hold` several times waits only once for credit that other requests hold.
  const sinceMs = performance.now()
  if (!isAmple) return holdWhatIsThere(ledger, estimate, model, request, { atMs, bound, sinceMs })
  try {
    const hold = await ledger.hold(caller, {
      wantedNanoUsd,
      leastNanoUsd: wantedNanoUsd,
      model: model.id,
      labels: labelsOf(caller),
      atMs,
      sinceMs,
      cancellation,
    })
    return { hold, request: limitAnswer(request, estimate, bound, bound.outputTokensMax) }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return holdWhatIsThere(ledger, estimate, model, request, { atMs, bound, sinceMs })
  }
}

/** If the prompt is at most this part of the balance, counting it exactly changes almost nothing. */
const SMALL_PROMPT_DIVISOR = 10n

async function holdWhatIsThere<Body extends object>(
  ledger: HoldLedger,
  estimate: Estimate<Body>,
  model: CatalogModel,
  request: InferenceRequest<Body>,
  { atMs, bound, sinceMs }: { atMs: number; bound: WorstCase; sinceMs: number },
): Promise<CoveredRequest<Body>> {
  const { caller, cancellation } = request
  const hold = async (
    worstCase: WorstCase,
    { leastNanoUsd, isPatient }: { leastNanoUsd: NanoUsd; isPatient: boolean },
  ): Promise<CoveredRequest<Body>> => {
    const { wantedNanoUsd } = worstCase
    const charged = { model: model.id, labels: labelsOf(caller), atMs }
    const asked = { ...charged, wantedNanoUsd, leastNanoUsd, isPatient, sinceMs, cancellation }
    const held = await ledger.hold(caller, asked)
    const outputTokens = outputTokensCovered(worstCase, held.amountNanoUsd)
    return { hold: held, request: limitAnswer(request, estimate, worstCase, outputTokens) }
  }
  const ample = bound.leastNanoUsd * SMALL_PROMPT_DIVISOR
  try {
    const leastNanoUsd = ample < bound.wantedNanoUsd ? ample : bound.wantedNanoUsd
    return await hold(bound, { leastNanoUsd, isPatient: false })
  } catch (error) {
    if (!isRefusal(error)) throw error
    const refined = boundRequest(estimate.refine(model, request.body, request.bytes), request)
    return hold(refined, { leastNanoUsd: refined.leastNanoUsd, isPatient: true })
  }
}

/** Limits the answer to what the hold covers. */
function limitAnswer<Body extends object>(
  request: InferenceRequest<Body>,
  { isLimitedByModel, limitMembers }: Estimate<Body>,
  { outputTokensMax }: WorstCase,
  outputTokens: number,
): InferenceRequest<Body> {
  const asked = outputLimitOf(request.body, { limitMembers })
  if (asked === null ? isLimitedByModel && outputTokens === outputTokensMax : asked <= outputTokens)
    return request
  const member = findLimit(request.body, limitMembers) ?? limitMembers.at(-1) ?? 'max_tokens'
  const fromTokens = asked ?? outputTokensMax
  const thinking = shortenThinking(request.body, { fromTokens, toTokens: outputTokens })
  const changes: Record<string, unknown> = { [member]: outputTokens }
  if (thinking !== null) changes[thinking[0]] = thinking[1]
  const body = { ...request.body, ...changes }
  const edits = new Map(Object.entries(changes).map(([name, value]) => [name, JSON.stringify(value)]))
  const text = editJsonObject(request.text, edits) ?? JSON.stringify(body)
  return { ...request, body, text }
}
