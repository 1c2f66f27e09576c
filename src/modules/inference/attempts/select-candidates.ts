import { AppError, modelNotFound } from '../../../kernel/app-error.ts'
import { drawFor, hashText, scoreOf } from '../../../kernel/rendezvous.ts'
import type { Provider, UpstreamTimeouts } from '../../../providers/provider.ts'
import type { ProviderRegistry } from '../../../providers/registry.ts'
import {
  ENDPOINT_OF_CATEGORY,
  type Catalog,
  type CatalogModel,
  type Category,
} from '../../catalog/catalog.ts'
import type { Caller } from '../../keys/keys.ts'
import { mayUseModel, modelNotAllowed } from '../../projects/projects.ts'
import type { CircuitBreaker } from '../circuit/circuit-breaker.ts'
import type { MayUseSandbox } from './sandbox-policy.ts'

/** An upstream that can serve the request now. */
export interface Candidate {
  readonly provider: Provider
  readonly upstreamModel: string
  readonly timeouts: UpstreamTimeouts
  /** Timeouts of streams. Their first byte is due sooner, which leaves time for another candidate. */
  readonly streamTimeouts: UpstreamTimeouts
  readonly breaker: CircuitBreaker | null
}

export interface CandidateSelector {
  /** Returns the named model. Without a name, the first in the catalog that the key may use, that suits and that is configured. */
  resolveModel(
    caller: Caller,
    requestedModel: string | null | undefined,
    /** Restricts the models to choose from if none is named. */
    suits?: (model: CatalogModel) => boolean,
    /** When the request began, which decides its price. Now by default. */
    atMs?: number,
  ): CatalogModel
  /**
   * Returns at least one candidate, in the order to try them. Errors name the model as the client did. Requests with the same
   * affinity get the same order, drawn by the same weights as all others.
   */
  select(
    caller: Caller,
    model: CatalogModel,
    requestedModel?: string | null,
    affinity?: () => number | null,
  ): readonly Candidate[]
}

interface CandidateSelectorOptions {
  readonly catalog: Catalog
  readonly providers: Pick<ProviderRegistry, 'current' | 'get' | 'sandbox'>
  readonly breakerOf: (provider: Provider, upstreamModel: string) => CircuitBreaker
  /** For routes without their own timeouts. */
  readonly timeouts: UpstreamTimeouts
  /** The categories of models that the operation is for. */
  readonly categories: readonly Category[]
  readonly isOffered: (provider: Provider) => boolean
  readonly mayUseSandbox: MayUseSandbox
  /** Returns the environment variable that configures a provider, or null. */
  readonly variableOf?: ((providerId: string) => string | null) | undefined
  readonly random?: () => number
}

export function createCandidateSelector(options: CandidateSelectorOptions): CandidateSelector {
  const { catalog, providers, mayUseSandbox, random = Math.random } = options
  // A reload of the catalog creates new model objects, so the entries of the old ones are garbage-collected.
  let groupsOfModel = new WeakMap<CatalogModel, readonly (readonly Weighted[])[]>()
  let foundIn = providers.current

  const groupsOf = (model: CatalogModel) => {
    if (foundIn !== providers.current) {
      foundIn = providers.current
      groupsOfModel = new WeakMap()
    }
    const known = groupsOfModel.get(model)
    if (known) return known
    const found = groupByPriority(model, options)
    const isSingle = found.length === 1 && found[0]?.length === 1
    const groups = isSingle ? found.map(giveLastAllTime) : found
    groupsOfModel.set(model, groups)
    return groups
  }

  return {
    resolveModel(caller, named, suits, atMs) {
      const requestedModel = named ?? chooseDefault(caller, options, suits)
      const model = catalog.resolveFor(caller, requestedModel, atMs)
      if (!model) throw modelNotFound(requestedModel, catalog.successorOf(caller, requestedModel, atMs))
      if (!options.categories.includes(model.category)) {
        const message = `'${requestedModel}' cannot be used here; it is served by ${ENDPOINT_OF_CATEGORY[model.category]}.`
        throw new AppError('invalid_value', message, { param: 'model' })
      }
      if (!isAllowed(caller, model.id) && !isAllowed(caller, requestedModel)) {
        const message = `This API key may not use the model '${requestedModel}'.`
        throw new AppError('model_not_allowed', message, { param: 'model' })
      }
      if (!mayUseModel(catalog, caller, model)) throw modelNotAllowed(requestedModel)
      return model
    },

    select(caller, model, requestedModel, affinity) {
      const groups = groupsOf(model)
      const [first] = groups
      // Fast path: most models have one route.
      if (first !== undefined && groups.length === 1 && first.length === 1) return first
      if (groups.length > 0)
        return giveLastAllTime(
          groups.flatMap((group) =>
            group.length === 1 ? group : shuffle(group, drawBy(affinity?.() ?? null, random)),
          ),
        )
      if (mayUseSandbox(caller)) {
        const { timeouts } = options
        const upstreamModel = model.id
        return [
          { provider: providers.sandbox, upstreamModel, timeouts, streamTimeouts: timeouts, breaker: null },
        ]
      }
      throw notConfigured(model, requestedModel ?? model.id, options)
    },
  }
}

function notConfigured(
  { routes }: CatalogModel,
  requestedModel: string,
  { providers, variableOf }: CandidateSelectorOptions,
): AppError {
  const missing = routes.filter(({ provider }) => providers.get(provider)?.isConfigured !== true)
  const names = [...new Set(missing.map(({ provider }) => variableOf?.(provider) ?? provider))]
  const message =
    names.length === 0
      ? `No configured provider of '${requestedModel}' can do this.`
      : `No provider of '${requestedModel}' is configured. The operator of this gateway sets ${names.join(' or ')}.`
  return new AppError('provider_not_configured', message, { param: 'model' })
}

function isAllowed({ allowedModels }: Caller, name: string): boolean {
  return allowedModels === null || allowedModels.has(name)
}

function chooseDefault(
  caller: Caller,
  { catalog, categories, providers, isOffered }: CandidateSelectorOptions,
  suits: (model: CatalogModel) => boolean = () => true,
): string {
  const offered = categories.flatMap((category) => catalog.list({ category })).filter(suits)
  const allowed = offered.filter(
    (model) => isAllowed(caller, model.id) && mayUseModel(catalog, caller, model),
  )
  const isServed = ({ routes }: CatalogModel) =>
    routes.some(({ provider: id }) => {
      const provider = providers.get(id)
      return provider?.isConfigured === true && isOffered(provider)
    })
  const chosen = allowed.find(isServed) ?? allowed[0] ?? offered[0]
  if (chosen !== undefined) return chosen.id
  throw new AppError('missing_required_parameter', "Missing required parameter: 'model'.", { param: 'model' })
}

interface Weighted extends Candidate {
  readonly weight: number
  /** Identifies the candidate in the affinity draw. */
  readonly hash: number
}

function groupByPriority(
  model: CatalogModel,
  { providers, breakerOf, timeouts, isOffered }: CandidateSelectorOptions,
): readonly (readonly Weighted[])[] {
  const groups = new Map<number, Weighted[]>()
  for (const route of model.routes) {
    const provider = providers.get(route.provider)
    if (!provider?.isConfigured || !isOffered(provider)) continue
    const own = { ...provider.timeouts, ...route.timeouts }
    const candidate = {
      provider,
      upstreamModel: route.model,
      timeouts: { ...timeouts, ...own },
      streamTimeouts: hastenFirstByte({ ...timeouts, ...own }, model, own.firstByteMs),
      weight: route.weight,
      hash: hashText(`${provider.id} ${route.model}`),
      breaker: provider === providers.sandbox || provider.isSingle ? null : breakerOf(provider, route.model),
    }
    groups.set(route.priority, [...(groups.get(route.priority) ?? []), candidate])
  }
  return [...groups].toSorted(([a], [b]) => a - b).map(([, group]) => group)
}

/** First-byte timeout while another candidate is left and the client still waits. */
const FALLBACK_FIRST_BYTE_MS = 20_000
/** A reasoning model sends nothing while it reasons. */
const REASONING_FALLBACK_FIRST_BYTE_MS = 120_000

/** Keeps a first-byte timeout that the route sets itself, however long it is. */
function hastenFirstByte(
  timeouts: UpstreamTimeouts,
  model: CatalogModel,
  ownFirstByteMs: number | undefined,
): UpstreamTimeouts {
  if (ownFirstByteMs !== undefined) return timeouts
  const canReason = model.capabilities.has('reasoning')
  const firstByteMsMax = canReason ? REASONING_FALLBACK_FIRST_BYTE_MS : FALLBACK_FIRST_BYTE_MS
  return { ...timeouts, firstByteMs: Math.min(timeouts.firstByteMs, firstByteMsMax) }
}

/** The last candidate gets its full timeouts, because no other is left. */
function giveLastAllTime<One extends Candidate>(candidates: readonly One[]): readonly One[] {
  return candidates.map((candidate, index) =>
    index === candidates.length - 1 ? { ...candidate, streamTimeouts: candidate.timeouts } : candidate,
  )
}

/** Draws the same number for the same affinity, and a random one without affinity. */
function drawBy(affinity: number | null, random: () => number): (candidate: Weighted) => number {
  return affinity === null ? random : ({ hash }) => drawFor(affinity, hash)
}

/** Orders candidates at random. A candidate with more weight is more likely to come first. */
function shuffle(group: readonly Weighted[], draw: (candidate: Weighted) => number): Weighted[] {
  return group
    .map((candidate) => ({ candidate, score: scoreOf(draw(candidate), candidate.weight) }))
    .toSorted((a, b) => b.score - a.score)
    .map(({ candidate }) => candidate)
}
