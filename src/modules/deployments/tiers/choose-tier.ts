import { invalidValue } from '../../../kernel/app-error.ts'
import type { OfferedTier } from '../../../gpu/registry.ts'
import type { Hub } from '../../../hub/hub.ts'
import { assessModel, type EntitledQuestion } from '../models/assess-model.ts'
import { findTier, requireTiers } from './find-tier.ts'

/**
 * Chooses the cheapest tier on which the model fits, one with a free machine if there is one. If the memory of the model is not
 * known, the cheapest of all: the check of the order that follows says why it cannot be used.
 */
export async function chooseTier(
  hub: Hub,
  question: EntitledQuestion,
  tiers: readonly OfferedTier[],
): Promise<OfferedTier> {
  requireTiers(tiers)
  const free = tiers.filter(({ availableCount }) => availableCount > 0)
  for (const offered of [free, tiers]) {
    if (offered.length === 0) continue
    const { recommendedTier, weights, errors } = await assessModel(hub, question, offered)
    if (recommendedTier !== null) return findTier(offered, recommendedTier)
    if (weights === null || errors.length > 0) return cheapestOf(offered)
  }
  throw invalidValue(
    'gpu_tier',
    'The model fits on no tier. GET /v1/deployments/preview tells how much it needs.',
  )
}

function cheapestOf(tiers: readonly OfferedTier[]): OfferedTier {
  requireTiers(tiers)
  return tiers.reduce((one, other) => (other.pricePerHourNanoUsd < one.pricePerHourNanoUsd ? other : one))
}
