import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import type { OfferedTier } from '../../../gpu/registry.ts'

/** Finds a tier by its id, also with dashes (`l40s-48gb`), and without its memory (`l40s`) if only one tier is meant. */
export function findTier(tiers: readonly OfferedTier[], name: string): OfferedTier {
  requireTiers(tiers)
  const plain = simplify(name)
  const exact = tiers.find(({ id }) => id === name) ?? tiers.find(({ id }) => simplify(id) === plain)
  if (exact !== undefined) return exact
  const meant = tiers.filter(({ id }) => simplify(id).replace(MEMORY, '') === plain)
  const [only] = meant
  if (only !== undefined && meant.length === 1) return only
  const named = meant.length > 1 ? meant : tiers
  throw invalidValue(
    'gpu_tier',
    `There is ${meant.length > 1 ? 'more than one' : 'no'} such tier. GET /v1/gpu-tiers has ${named.map(({ id }) => id).join(', ')}.`,
  )
}

export function requireTiers(tiers: readonly OfferedTier[]): void {
  if (tiers.length === 0)
    throw new AppError('provider_not_configured', 'This gateway has no GPUs for this key.')
}

const MEMORY = /_\d+gb$/

function simplify(name: string): string {
  return name.toLowerCase().replaceAll(/[-\s]+/g, '_')
}
