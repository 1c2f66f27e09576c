import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import type { OfferedTier } from '../../../gpu/registry.ts'
import type { Hub } from '../../../hub/hub.ts'
import { assessModel, fitOnTier, type EntitledQuestion } from './assess-model.ts'

/**
 * Whether models are checked with the hub: `always`; `when_reachable`, for a simulation that also works without the hub; or
 * `never`, for models that are not on the hub.
 */
export type HubUse = 'always' | 'when_reachable' | 'never'

interface ModelCheck {
  readonly hub: Hub
  readonly use: HubUse
  readonly tier: OfferedTier
  readonly tiers: readonly OfferedTier[]
}

const RETRY_SECONDS = 10

/** Throws the reasons of the validation if the model cannot run on the tier. Returns the commit to deploy; null if unknown. */
export async function checkModel(
  question: EntitledQuestion,
  { hub, use, tier, tiers }: ModelCheck,
): Promise<string | null> {
  if (use === 'never') return null
  const assessment = await assessModel(hub, question, tiers)
  const { model, errors, failure } = assessment
  const reason = errors.join(' ')
  if (failure === 'unavailable') {
    if (use === 'when_reachable') return null
    throw new AppError('service_unavailable', reason, { retryAfterSeconds: RETRY_SECONDS })
  }
  if (failure === 'gated') throw invalidValue('hf_token', reason)
  if (model === null || errors.length > 0) throw invalidValue('huggingface_id', reason)
  const { fit, need, availableBytes, longestContext, alternatives } = fitOnTier(model, question, tier, tiers)
  if (fit === 'no' && need !== null)
    throw invalidValue(
      'gpu_tier',
      [
        `The model takes ${gigabytes(need.totalBytes)} GB, and the tier has ${gigabytes(availableBytes)} GB for it.`,
        ...(longestContext > 0 ? [`It fits with a max_model_len of ${longestContext}.`] : []),
        ...(alternatives.length > 0 ? [`It fits on ${alternatives.slice(0, 5).join(', ')}.`] : []),
      ].join(' '),
    )
  return model.commit
}

function gigabytes(bytes: number): string {
  return (bytes / 1_000_000_000).toFixed(1)
}
