import { expect, test } from 'vitest'
import type { GpuDriver, GpuTier } from './gpu-driver.ts'
import { createGpuRegistry } from './registry.ts'

const tier = (id: string, availableCount: number): GpuTier => ({
  id,
  gpuName: 'NVIDIA L4',
  gpuCount: 1,
  vramGb: 24,
  pricePerHourNanoUsd: 800_000_000n,
  availableCount,
  region: null,
})

function createDriver(id: string, capacity: GpuDriver['capacity']): GpuDriver {
  const unused = () => Promise.reject(new Error('not asked for'))
  return { id, capacity, launch: unused, observe: unused, logs: unused, stop: unused, sweep: unused }
}

test('a driver that does not answer keeps its tiers with no free machines, and is reported', async () => {
  let isAway = false
  const failed: string[] = []
  const gpus = createGpuRegistry({
    drivers: [
      createDriver('one', async () => {
        if (isAway) throw new Error('away')
        return [tier('l4_24gb', 3)]
      }),
      createDriver('other', async () => [tier('l4_24gb', 9), tier('l4_24gb_x2', 1)]),
    ],
    onFailure: (driverId) => failed.push(driverId),
  })
  const read = async () =>
    (await gpus.capacity()).map(({ id, driverId, availableCount }) => `${id} ${driverId} ${availableCount}`)
  expect(await read()).toEqual(['l4_24gb one 3', 'l4_24gb_x2 other 1'])
  isAway = true
  expect(await read()).toEqual(['l4_24gb one 0', 'l4_24gb_x2 other 1'])
  expect(failed).toEqual(['one'])
})
