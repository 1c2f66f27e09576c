import { AppError } from '../../../kernel/app-error.ts'
import type { OfferedTier } from '../../../gpu/registry.ts'
import {
  cacheBytes,
  estimateMemory,
  fitOf,
  longestFitting,
  usableBytes,
  weightBytes,
  type Fit,
  type MemoryNeed,
} from '../../../hub/estimate-memory.ts'
import { HubError, type HubFailure } from '../../../hub/hub-error.ts'
import { isGgufQuantization } from '../../../hub/pick-files.ts'
import type { ModelCache } from '../../../hub/model-cache/model-cache.ts'
import type { Hub, HubModel, HubRequest } from '../../../hub/hub.ts'
import { findTier, requireTiers } from '../tiers/find-tier.ts'

/** A model and the settings to check it with before it is deployed. */
export interface ModelQuestion {
  readonly huggingfaceId: string
  /** A branch, tag or commit. The default is the main branch. */
  readonly revision?: string | null
  readonly quantization: string
  readonly maxModelLen: number | null
  readonly token: string | null
}

/** A question with the account's right to the operator's hub token. */
export interface EntitledQuestion extends ModelQuestion {
  /** Whether a question without a token is asked with the operator's. */
  readonly asOperator: boolean
}

/** Whether a model can be deployed, and why not. */
export interface Assessment {
  /** Null if it could not be read. */
  readonly model: HubModel | null
  /** Why it could not be read; null if it was. */
  readonly failure: HubFailure | null
  readonly isGated: boolean
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
  /** Bytes of the weights alone, by quantization; null if unknown. */
  readonly weights: { readonly fp16: number; readonly int8: number; readonly int4: number } | null
  /** Bytes of the KV cache of one request with the requested context, or else with the longest one; null if unknown. */
  readonly cache: number | null
  readonly contextMax: number | null
  readonly recommendedTier: string | null
}

export interface TierPreview {
  readonly model: HubModel
  readonly tier: OfferedTier
  readonly fit: Fit
  /** Null if it cannot be estimated. */
  readonly need: MemoryNeed | null
  readonly availableBytes: number
  readonly longestContext: number
  /** Other tiers that the model fits on, cheapest first. */
  readonly alternatives: readonly string[]
  readonly notes: readonly string[]
}

/** How much of a model's files is in the cache of this gateway. */
export const CACHE_STATUSES = ['none', 'partial', 'complete'] as const
export type CacheStatus = (typeof CACHE_STATUSES)[number]

/** Returns `none` for a driver that does not use the cache of this gateway. */
export async function readCacheStatus(
  cache: Pick<ModelCache, 'measure'> | null,
  modelId: string,
  { commit, picked }: HubModel,
): Promise<CacheStatus> {
  if (cache === null || picked === null) return 'none'
  try {
    const { bytesDone, bytesTotal } = await cache.measure({ modelId, commit, files: picked.files })
    return bytesDone === 0 ? 'none' : bytesDone === bytesTotal ? 'complete' : 'partial'
  } catch (error) {
    // Files without a size or a checksum cannot be in the cache.
    if (error instanceof HubError) return 'none'
    throw error
  }
}

const CONTEXT_DEFAULT = 8_192

export async function assessModel(
  hub: Hub,
  question: EntitledQuestion,
  tiers: readonly OfferedTier[],
): Promise<Assessment> {
  try {
    const model = await hub.readModel(toRequest(question))
    return assess(model, question, tiers)
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    return {
      model: null,
      failure: error.failure,
      isGated: error.failure === 'gated',
      errors: [error.message],
      warnings: [],
      weights: null,
      cache: null,
      contextMax: null,
      recommendedTier: null,
    }
  }
}

function toRequest(question: EntitledQuestion): HubRequest {
  const { huggingfaceId: modelId, revision, quantization, token, asOperator } = question
  return { modelId, revision: revision ?? null, quantization, token, asOperator }
}

function assess(model: HubModel, question: ModelQuestion, tiers: readonly OfferedTier[]): Assessment {
  const { shape, weights } = model
  const tokens = question.maxModelLen ?? shape?.contextMax ?? CONTEXT_DEFAULT
  const isKnown = shape !== null && weights !== null
  return {
    model,
    failure: null,
    isGated: model.isGated,
    errors: findErrors(model, question),
    warnings: findWarnings(model, question),
    weights: isKnown
      ? {
          fp16: weightBytes(shape, weights, 'fp16'),
          int8: weightBytes(shape, weights, 'int8'),
          int4: weightBytes(shape, weights, 'awq'),
        }
      : null,
    cache: shape === null ? null : cacheBytes(shape, tokens),
    contextMax: shape?.contextMax ?? null,
    recommendedTier: isKnown ? (listFitting(model, question, tiers)[0] ?? null) : null,
  }
}

function findErrors(model: HubModel, { maxModelLen, quantization }: ModelQuestion): string[] {
  const contextMax = model.shape?.contextMax ?? null
  return [
    ...(model.format === 'pickle'
      ? [
          'The weights are pickled only, which can run any code when they are loaded. Use a model with safetensors or GGUF.',
        ]
      : []),
    ...(model.format === 'none' ? ['The repository has no weights that an engine can load.'] : []),
    ...(model.hasRemoteCode ? ['The model brings code of its own, which this gateway does not run.'] : []),
    ...(model.format === 'safetensors' && isGgufQuantization(quantization)
      ? [`The repository has no GGUF files, and ${quantization} is a quantization of those.`]
      : []),
    ...(contextMax !== null && maxModelLen !== null && maxModelLen > contextMax
      ? [`max_model_len is above the context of the model, ${contextMax} tokens.`]
      : []),
  ]
}

/** These need weights stored in their format. Engines apply the other quantizations while they load the weights. */
const STORED_QUANTIZATIONS = new Set(['awq', 'gptq'])

function findWarnings(model: HubModel, { quantization }: ModelQuestion): string[] {
  return [
    ...(STORED_QUANTIZATIONS.has(quantization) && model.quantizedBy !== quantization
      ? [`${quantization} needs weights that are stored so, which these are not.`]
      : []),
    ...(model.isGated
      ? ['The model is gated: deploying it needs a token of an account that accepted its terms.']
      : []),
    ...(model.license === null ? ['The model names no licence.'] : []),
    ...(model.hasChatTemplate
      ? []
      : ['The model has no chat template: it may be a base model that does not follow instructions.']),
    ...(model.shape === null ? ['Its memory could not be estimated from its config.'] : []),
  ]
}

/** Returns `auto` for GGUF files, because their quantization is fixed. */
function quantizationOf({ format }: HubModel, { quantization }: ModelQuestion): string {
  return format === 'gguf' ? 'auto' : quantization
}

interface Sized {
  readonly model: HubModel
  readonly question: ModelQuestion
}

/** Returns the memory that the model needs on a tier, or null if it cannot be estimated. */
function needOn({ model, question }: Sized, tier: OfferedTier, tokens?: number) {
  const { shape, weights } = model
  if (shape === null || weights === null) return null
  return estimateMemory(shape, weights, {
    quantization: quantizationOf(model, question),
    tokens: tokens ?? question.maxModelLen ?? shape.contextMax ?? CONTEXT_DEFAULT,
    gpuCount: tier.gpuCount,
  })
}

/** Lists the tiers that the model fits on, cheapest first. */
function listFitting(model: HubModel, question: ModelQuestion, tiers: readonly OfferedTier[]): string[] {
  return tiers
    .filter((tier) => {
      const need = needOn({ model, question }, tier)
      return need !== null && fitOf(need, tier) === 'fits'
    })
    .toSorted((one, other) => Number(one.pricePerHourNanoUsd - other.pricePerHourNanoUsd))
    .map(({ id }) => id)
}

/** Reads a model from the hub and returns how it fits on a tier, by default the cheapest that it fits on. Throws if there is no such tier or the model cannot be read. */
export async function previewTier(
  hub: Hub,
  question: EntitledQuestion & { readonly gpuTier: string | null },
  tiers: readonly OfferedTier[],
): Promise<TierPreview> {
  requireTiers(tiers)
  const named = question.gpuTier === null ? null : findTier(tiers, question.gpuTier)
  const model = await readForPreview(hub, question)
  const tier = named ?? findTier(tiers, listFitting(model, question, tiers)[0] ?? largestOf(tiers).id)
  return fitOnTier(model, question, tier, tiers)
}

/** The tier that a model that fits on none comes nearest to. */
function largestOf(tiers: readonly OfferedTier[]): OfferedTier {
  return tiers.reduce((one, other) => (other.vramGb > one.vramGb ? other : one))
}

/** Returns how a model fits on a tier, with alternatives. */
export function fitOnTier(
  model: HubModel,
  question: ModelQuestion,
  tier: OfferedTier,
  tiers: readonly OfferedTier[],
): TierPreview {
  const { shape, weights } = model
  const errors = findErrors(model, question)
  const notes = [...errors, ...findWarnings(model, question)]
  const alternatives = listFitting(model, question, tiers).filter((id) => id !== tier.id)
  const need = needOn({ model, question }, tier)
  const availableBytes = usableBytes(tier)
  const known = { model, tier, availableBytes, alternatives, notes }
  if (shape === null || weights === null || need === null)
    return { ...known, fit: 'no', need: null, longestContext: 0 }
  const longestContext = longestFitting(shape, weights, {
    quantization: quantizationOf(model, question),
    tokensMax: shape.contextMax ?? CONTEXT_DEFAULT,
    memory: tier,
  })
  const fit = errors.length > 0 ? 'no' : fitOf(need, tier)
  return { ...known, fit, need, longestContext }
}

async function readForPreview(hub: Hub, question: EntitledQuestion): Promise<HubModel> {
  try {
    return await hub.readModel(toRequest(question))
  } catch (error) {
    if (!(error instanceof HubError)) throw error
    if (error.failure === 'unavailable')
      throw new AppError('service_unavailable', error.message, {
        retryAfterSeconds: RETRY_SECONDS,
        cause: error,
      })
    throw new AppError('invalid_value', error.message, { param: 'huggingface_id', cause: error })
  }
}

const RETRY_SECONDS = 10
