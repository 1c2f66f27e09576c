import { isOrderSafe } from '../check-order.ts'
import type { InstanceFailure, LaunchOrder } from '../gpu-driver.ts'
import { advanceInstance, type AdvanceOptions } from './advance-instance.ts'
import { failInstance } from './fail-instance.ts'
import type { InstanceDirectory } from './instance-directory.ts'
import type { LocalTier } from './local-tiers.ts'
import { NOT_USABLE } from './locate-model.ts'
import { releaseAll, takePlace } from './places.ts'

const NO_PLACE: InstanceFailure = { code: 'capacity_exhausted', message: 'No place of this tier is free.' }

/** Takes a place, records it and advances the instance. A repeated launch with the same id has no effect. */
export async function launchInstance(
  directory: InstanceDirectory,
  { order, tier }: { order: LaunchOrder; tier: LocalTier },
  options: AdvanceOptions,
): Promise<void> {
  const { instanceId } = order
  if (!(await directory.create(instanceId, { orderedAtMs: Date.now() }))) return
  if (!isOrderSafe(order)) return failInstance(directory, instanceId, { failure: NOT_USABLE })
  const place = await takePlace(directory, tier, instanceId)
  if (place === null) return failInstance(directory, instanceId, { failure: NO_PLACE })
  const { hubToken, ...kept } = order
  const placement = {
    order: { ...kept, environment: { ...kept.environment } },
    hasToken: hubToken !== null,
    command: tier.command.map((part) => (typeof part === 'string' ? part : [...part])),
    ramBytesMax: tier.ramBytesMax,
    gpus: [...place.gpus],
    placeNames: [...place.names],
    boundAtMs: options.clock.nowMs(),
  }
  try {
    await directory.writePlacement(placement)
  } catch (error) {
    await releaseAll(directory, place.names, instanceId)
    throw error
  }
  await advanceInstance(directory, placement, options)
}
