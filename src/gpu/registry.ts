import type { GpuDriver, GpuTier } from './gpu-driver.ts'

/** A tier and the driver that has it. */
export interface OfferedTier extends GpuTier {
  readonly driverId: string
}

export interface GpuRegistry {
  get(driverId: string): GpuDriver | undefined
  readonly drivers: readonly GpuDriver[]
  /** Asks every driver. Where two have the same tier, the earlier one counts. A driver that fails offers nothing, and is reported. */
  capacity(): Promise<readonly OfferedTier[]>
}

interface RegistryOptions {
  /** In the order they are preferred. */
  readonly drivers: readonly GpuDriver[]
  readonly onFailure: (driverId: string, error: unknown) => void
}

export function createGpuRegistry({ drivers, onFailure }: RegistryOptions): GpuRegistry {
  const byId = new Map(drivers.map((driver) => [driver.id, driver]))
  const tiersOf = async (driver: GpuDriver): Promise<readonly OfferedTier[]> => {
    try {
      return (await driver.capacity()).map((tier) => ({ ...tier, driverId: driver.id }))
    } catch (error) {
      onFailure(driver.id, error)
      return []
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
