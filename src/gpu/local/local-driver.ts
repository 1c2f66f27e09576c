import { existsSync } from 'node:fs'
import type { GpuDriver } from '../gpu-driver.ts'
import { readLastLines } from './bounded-log.ts'
import { findGpus } from './find-gpus.ts'
import { isInstanceId, openInstanceDirectory, type InstanceDirectory } from './instance-directory.ts'
import { advanceInstance, type AdvanceOptions } from './advance-instance.ts'
import { launchInstance } from './launch-instance.ts'
import { commandOf, listTiers } from './local-tiers.ts'
import { observeInstance } from './observe-instance.ts'
import { isFree, portName } from './places.ts'
import { createGpuSampler } from './sample-gpus.ts'

interface LocalDriverOptions extends AdvanceOptions {
  /** Directory with the state of all instances, shared by all processes of the gateway. */
  readonly directory: string
}

/** How long ended instances are kept, so that a late launch does not restart them and their ports are not reused. */
const REMEMBERED_MS = 3_600_000

/**
 * Creates the driver that runs engines on this machine, each under a keeper that outlives the gateway. The driver keeps no
 * state in memory.
 */
export function createLocalDriver(options: LocalDriverOptions): GpuDriver {
  const { settings, clock, inherited } = options
  if (!existsSync('/proc/self/stat')) throw new Error('engines on this machine need Linux and its /proc')
  const directory = openInstanceDirectory(options.directory)
  const path = inherited['PATH'] ?? ''
  let isTold = false
  const tellUnusable = (code: string): void => {
    if (!isTold)
      options.report?.(`nvidia-smi cannot be run (${code}), so this machine counts as one without a GPU`)
    isTold = true
  }
  const readTiers = async () => listTiers(settings, await findGpus(path, tellUnusable))
  const observe = (instanceId: string) =>
    observeInstance(directory, instanceId, {
      nowMs: clock.nowMs(),
      advance: (placement) => advanceInstance(directory, placement, options),
    })

  return {
    id: 'local',
    capacity: async () =>
      Promise.all(
        (await readTiers()).map(async ({ places, ramBytesMax: _ram, command: _command, ...tier }) => {
          const free = await Promise.all(places.map((place) => isFree(directory, place)))
          return { ...tier, availableCount: free.filter(Boolean).length }
        }),
      ),
    launch: async (order) => {
      if (!isInstanceId(order.instanceId)) throw new Error('not the id of an instance')
      const tier = (await readTiers()).find(({ id }) => id === order.tierId)
      if (tier === undefined) throw new Error(`there is no tier '${order.tierId}'`)
      await launchInstance(directory, { order, tier }, options)
    },
    observe,
    logs: async (instanceId, { linesMax }) =>
      isInstanceId(instanceId) ? readLastLines(directory.pathOf(instanceId), linesMax) : [],
    sampleGpus: createGpuSampler({ directory, settings, path, nowMs: () => clock.monotonicMs() }),
    slotsOf: (tierId) => (commandOf(settings, tierId).length === 0 ? settings.llamaCpp.parallel : null),
    // The keeper polls for the stop request.
    stop: async (instanceId) => {
      if (isInstanceId(instanceId)) await directory.requestStop(instanceId)
    },
    sweep: async (findKnown) => {
      const ids = await directory.list()
      const known = await findKnown(ids)
      const ended: string[] = []
      for (const id of ids) {
        const { state, releasedAtMs } = await observeInstance(directory, id, {
          nowMs: clock.nowMs(),
          advance: null,
        })
        if (known.has(id)) continue
        const isOver = state === 'gone' || state === 'failed'
        if (!isOver && (await directory.requestStop(id))) ended.push(id)
        const orderedAtMs = (await directory.readOrderedAtMs(id)) ?? 0
        const sinceMs = releasedAtMs === null ? Date.now() - orderedAtMs : clock.nowMs() - releasedAtMs
        if (isOver && sinceMs > REMEMBERED_MS) await forget(directory, id)
      }
      return ended
    },
  }
}

async function forget(directory: InstanceDirectory, instanceId: string): Promise<void> {
  const plan = await directory.readPlan(instanceId)
  await directory.remove(instanceId)
  if (plan !== null) await directory.release(portName(plan.port), instanceId)
}
