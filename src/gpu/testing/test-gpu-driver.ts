import { beforeEach, describe, expect, test } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import type { GpuDriver, LaunchOrder } from '../gpu-driver.ts'

/** A driver under test and its controls. */
export interface DriverStage {
  readonly driver: GpuDriver
  /** A tier with two machines. */
  readonly tierId: string
  /** Waits, or advances the clock, until pending launches and stops have completed. */
  settle(): Promise<void>
  /** Environment that makes an engine run out of memory. */
  readonly failing: Readonly<Record<string, string>>
  /** Whether the driver measures the GPUs of the tier. */
  readonly measuresGpus: boolean
}

/** Registers the tests that every driver must pass. */
export function testGpuDriver(name: string, createStage: () => Promise<DriverStage>): void {
  describe(`the ${name} driver`, () => {
    let stage: DriverStage
    beforeEach(async () => {
      stage = await createStage()
    })

    const order = (given: Partial<LaunchOrder> = {}): LaunchOrder => ({
      instanceId: createId(),
      tierId: stage.tierId,
      huggingfaceId: 'Qwen/Qwen3-8B',
      revision: null,
      quantization: 'auto',
      maxModelLen: null,
      hubToken: null,
      environment: {},
      ...given,
    })
    const free = async () =>
      (await stage.driver.capacity()).find(({ id }) => id === stage.tierId)?.availableCount

    test('starts an instance, reports when its GPU was bound, and releases the GPU on a stop', async () => {
      const { driver } = stage
      const launched = order()
      await driver.launch(launched)
      expect((await driver.observe(launched.instanceId)).state).toMatch(/^(pending|loading)$/)
      await stage.settle()
      const ready = await driver.observe(launched.instanceId)
      expect(ready).toMatchObject({ state: 'ready', progress: 100, failure: null })
      expect([typeof ready.endpoint, typeof ready.boundAtMs]).toEqual(['string', 'number'])
      expect(await free()).toBe(1)
      await driver.stop(launched.instanceId)
      await stage.settle()
      const gone = await driver.observe(launched.instanceId)
      expect([gone.state, gone.endpoint, await free()]).toEqual(['gone', null, 2])
    })

    test('launches one instance if the same order is launched twice', async () => {
      const launched = order()
      await Promise.all([stage.driver.launch(launched), stage.driver.launch(launched)])
      await stage.driver.launch(launched)
      expect(await free()).toBe(1)
    })

    test('does not start a stopped instance again', async () => {
      const launched = order()
      await stage.driver.launch(launched)
      await stage.driver.stop(launched.instanceId)
      await stage.settle()
      await stage.driver.launch(launched)
      await stage.settle()
      expect([(await stage.driver.observe(launched.instanceId)).state, await free()]).toEqual(['gone', 2])
    })

    test('does not allocate more machines than exist to concurrent launches', async () => {
      const orders = Array.from({ length: 6 }, () => order())
      await Promise.all(orders.map((one) => stage.driver.launch(one)))
      await stage.settle()
      const seen = await Promise.all(orders.map(({ instanceId }) => stage.driver.observe(instanceId)))
      expect(seen.filter(({ state }) => state === 'ready')).toHaveLength(2)
      const failed = seen.filter(({ state }) => state === 'failed')
      expect(failed.map(({ failure }) => failure?.code)).toEqual(Array(4).fill('capacity_exhausted'))
      expect(failed.every(({ boundAtMs }) => boundAtMs === null)).toBe(true)
    })

    test('reports why an instance failed', async () => {
      const launched = order({ environment: stage.failing })
      await stage.driver.launch(launched)
      await stage.settle()
      const { state, failure, endpoint } = await stage.driver.observe(launched.instanceId)
      expect([state, failure?.code, endpoint]).toEqual(['failed', 'out_of_memory', null])
      expect((await stage.driver.logs(launched.instanceId, { linesMax: 100 })).join('\n')).toContain(
        failure?.message,
      )
    })

    test('reports an unknown instance as gone, and accepts a stop of it', async () => {
      const id = createId()
      await stage.driver.stop(id)
      expect((await stage.driver.observe(id)).state).toBe('gone')
      expect(await stage.driver.logs(id, { linesMax: 10 })).toEqual([])
    })

    test('returns as many log lines as requested', async () => {
      const launched = order()
      await stage.driver.launch(launched)
      await stage.settle()
      expect(await stage.driver.logs(launched.instanceId, { linesMax: 1 })).toHaveLength(1)
    })

    test('reports the load of GPUs only for instances that hold one', async () => {
      const [launched, unknown] = [order(), createId()]
      const sample = async () =>
        (await stage.driver.sampleGpus?.([launched.instanceId, unknown])) ?? new Map()
      expect((await sample()).size).toBe(0)
      await stage.driver.launch(launched)
      await stage.settle()
      const samples = await sample()
      expect([...samples.keys()]).toEqual(stage.measuresGpus ? [launched.instanceId] : [])
      for (const { utilization, memoryUsedGb } of samples.values()) {
        expect(utilization).toBeGreaterThanOrEqual(0)
        expect(utilization).toBeLessThanOrEqual(1)
        expect(memoryUsedGb).toBeGreaterThan(0)
      }
      await stage.driver.stop(launched.instanceId)
      await stage.settle()
      expect((await sample()).size).toBe(0)
    })

    test('sweeps only instances without a stored run', async () => {
      const [known, orphan] = [order(), order()]
      await stage.driver.launch(known)
      await stage.driver.launch(orphan)
      const swept = await stage.driver.sweep(
        async (ids) => new Set(ids.filter((id) => id === known.instanceId)),
      )
      expect(swept).toEqual([orphan.instanceId])
      await stage.settle()
      expect((await stage.driver.observe(orphan.instanceId)).state).toBe('gone')
      expect((await stage.driver.observe(known.instanceId)).state).toBe('ready')
      expect(await stage.driver.sweep(async (ids) => new Set(ids))).toEqual([])
    })
  })
}
