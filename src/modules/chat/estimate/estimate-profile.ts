import type { NanoUsd } from '../../../kernel/money.ts'
import type { TokenEncodingName } from '../../../kernel/tokens/token-encoding.ts'
import { vendorOf } from '../../../providers/vendors.ts'
import type { CatalogModel, TokenPrice } from '../../catalog/catalog.ts'
import { tokenFamilyOf, type TokenFamily } from './estimate-family.ts'

/** What an estimate needs to know about a model. Computed once per model. */
export interface EstimateProfile {
  readonly family: TokenFamily
  readonly encoding: TokenEncodingName
  /** The longest prompt that the model accepts. */
  readonly contextTokens: number
  /** The longest answer that the model writes. */
  readonly outputTokensMax: number
  /** Whether some upstream has no `n`: each choice is then a separate call, and the prompt is billed each time. */
  readonly isPromptBilledPerChoice: boolean
  /** Null if the price is per request. */
  readonly rateSteps: readonly RateStep[] | null
  readonly nanoUsdPerRequest: NanoUsd
  /** Whether audio is priced separately. */
  readonly isAudioPriced: boolean
}

/** The highest rates that apply to a prompt up to this step. */
export interface RateStep {
  readonly aboveTokens: number
  readonly inputNanoUsdPer1m: NanoUsd
  /** The input rate if the request asks to cache its prompt for an hour. */
  readonly hourInputNanoUsdPer1m: NanoUsd
  readonly outputNanoUsdPer1m: NanoUsd
  /** Rates of audio, at least as high as those of text. */
  readonly audioInputNanoUsdPer1m: NanoUsd
  readonly audioOutputNanoUsdPer1m: NanoUsd
}

export function estimateProfileOf(model: CatalogModel): EstimateProfile {
  const known = profiles.get(model)
  if (known !== undefined) return known
  const profile = createProfile(model)
  profiles.set(model, profile)
  return profile
}

/** Keyed by the model object, which a reload of the catalog replaces. */
const profiles = new WeakMap<CatalogModel, EstimateProfile>()

/** For models whose catalog entry has no limit: the values of the largest models. */
const CONTEXT_TOKENS_UNKNOWN = 2_000_000
const OUTPUT_TOKENS_UNKNOWN = 131_072

/** OpenAI's models before GPT-4o. `gpt-4.1` and `gpt-4o` use the newer encoding. */
const OLDER_ENCODING = /(^|\/)gpt-(3\.?5|4(?![.\do]))/

function createProfile(model: CatalogModel): EstimateProfile {
  const names = [model.id, ...model.routes.map((route) => route.model)]
  const { price } = model
  return {
    family: tokenFamilyOf(model.vendor, names),
    encoding: names.some((name) => OLDER_ENCODING.test(name)) ? 'cl100k' : 'o200k',
    contextTokens: model.contextTokens ?? CONTEXT_TOKENS_UNKNOWN,
    outputTokensMax: model.maxOutputTokens ?? model.contextTokens ?? OUTPUT_TOKENS_UNKNOWN,
    isPromptBilledPerChoice: model.routes.some(({ provider }) => vendorOf(provider)?.lacksChoices === true),
    rateSteps: price.unit === 'token' ? listRateSteps(price) : null,
    isAudioPriced:
      price.unit === 'token' &&
      (price.audioInputNanoUsdPer1m !== undefined || price.audioOutputNanoUsdPer1m !== undefined),
    nanoUsdPerRequest: price.unit === 'token' ? 0n : price.nanoUsdPerUnit,
  }
}

// A step keeps higher rates of earlier steps, so that overestimating the prompt's length never lowers the cost.
function listRateSteps(price: TokenPrice): RateStep[] {
  const steps: RateStep[] = []
  let inputNanoUsdPer1m = 0n
  let hourInputNanoUsdPer1m = 0n
  let outputNanoUsdPer1m = 0n
  for (const rates of [{ aboveTokens: -1, ...price }, ...price.longContext]) {
    const { cachedInputNanoUsdPer1m, cacheWriteNanoUsdPer1m = 0n, cacheWriteHourNanoUsdPer1m = 0n } = rates
    inputNanoUsdPer1m = largest(
      inputNanoUsdPer1m,
      rates.inputNanoUsdPer1m,
      cachedInputNanoUsdPer1m,
      cacheWriteNanoUsdPer1m,
    )
    hourInputNanoUsdPer1m = largest(hourInputNanoUsdPer1m, inputNanoUsdPer1m, cacheWriteHourNanoUsdPer1m)
    outputNanoUsdPer1m = largest(outputNanoUsdPer1m, rates.outputNanoUsdPer1m)
    steps.push({
      aboveTokens: rates.aboveTokens,
      inputNanoUsdPer1m,
      hourInputNanoUsdPer1m,
      outputNanoUsdPer1m,
      audioInputNanoUsdPer1m: largest(inputNanoUsdPer1m, price.audioInputNanoUsdPer1m ?? 0n),
      audioOutputNanoUsdPer1m: largest(outputNanoUsdPer1m, price.audioOutputNanoUsdPer1m ?? 0n),
    })
  }
  return steps
}

function largest(first: NanoUsd, ...others: readonly NanoUsd[]): NanoUsd {
  return others.reduce((left, right) => (right > left ? right : left), first)
}
