import type { GpuDriver, GpuTier } from './gpu-driver.ts'

/** A tier and the driver that offers it. */
export interface OfferedTier extends GpuTier {
  readonly driverId: string
}

export interface GpuRegistry {
  get(driverId: string): GpuDriver | undefined
  readonly drivers: readonly GpuDriver[]
  /**
   * Returns the tiers of all drivers. If two drivers have the same tier, the first driver wins. If a driver fails, the error is
   * reported and its last known tiers are returned without free machines.
   */
  capacity(): Promise<readonly OfferedTier[]>
}

interface RegistryOptions {
  /** In order of preference. */
  readonly drivers: readonly GpuDriver[]
  readonly onFailure: (driverId: string, error: unknown) => void
}

export function createGpuRegistry({ drivers, onFailure }: RegistryOptions): GpuRegistry {
  const byId = new Map(drivers.map((driver) => [driver.id, driver]))
  const lastTiers = new Map<string, readonly OfferedTier[]>()
  const tiersOf = async (driver: GpuDriver): Promise<readonly OfferedTier[]> => {
    try {
      const tiers = (await driver.capacity()).map((tier) => ({ ...tier, driverId: driver.id }))
      lastTiers.set(driver.id, tiers)
      return tiers
    } catch (error) {
      onFailure(driver.id, error)
      return (lastTiers.get(driver.id) ?? []).map((tier) => ({ ...tier, availableCount: 0 }))
    }
  }
  return {
    get: (driverId) => byId.get(driverId),
    drivers,
    capacity: async () => {
      const tiers = new Map<string, OfferedTier>()
      for (const tier of (await Promise.all(drivers.map(tiersOf))).flat())
        if (!tiers.has(tier.id)) tiers.set(tier.id, tier)
      return [...tiers.values()]
    },
  }
}
