import type { GpuSample } from '../gpu-driver.ts'
import { queryGpus } from './find-gpus.ts'
import { isInstanceId, type InstanceDirectory } from './instance-directory.ts'
import type { LocalSettings } from './local-settings.ts'

interface SamplerOptions {
  readonly directory: InstanceDirectory
  readonly settings: Pick<LocalSettings, 'tiers'>
  /** Where `nvidia-smi` is searched. */
  readonly path: string
  /** A monotonic clock in milliseconds. */
  readonly nowMs: () => number
}

type Sampled = ReadonlyMap<number, GpuSample>

const FIELDS = ['index', 'utilization.gpu', 'memory.used']
const TIMEOUT_MS = 2_000
/** Calls within this time share one call of `nvidia-smi`, because clients can cause them. */
const SHARED_MS = 1_000
const MIB_PER_GB = 1024
const PERCENT_MAX = 100

/** Creates the function that reads the load of the GPUs that instances hold. */
export function createGpuSampler({ directory, settings, path, nowMs }: SamplerOptions) {
  let last: { readonly gpus: Promise<Sampled>; readonly readAtMs: number } | null = null
  const readGpus = (): Promise<Sampled> => {
    if (last === null || nowMs() - last.readAtMs >= SHARED_MS)
      last = { gpus: queryGpus(path, FIELDS, TIMEOUT_MS).then(parseGpus), readAtMs: nowMs() }
    return last.gpus
  }
  /** Returns the GPUs that the instance holds alone. */
  const heldBy = async (instanceId: string): Promise<readonly number[]> => {
    const placement = isInstanceId(instanceId) ? await directory.readPlacement(instanceId) : null
    const [name] = placement?.placeNames ?? []
    if (placement === null || name === undefined) return []
    // The figures of a shared GPU would include the load of other accounts.
    if (placement.gpus.some((index) => isShared(index, settings))) return []
    return (await directory.holderOf(name)) === instanceId ? placement.gpus : []
  }

  return async (instanceIds: readonly string[]): Promise<ReadonlyMap<string, GpuSample>> => {
    const samples = new Map<string, GpuSample>()
    const holders = new Map<string, readonly number[]>()
    for (const id of instanceIds) holders.set(id, await heldBy(id))
    if ([...holders.values()].every((held) => held.length === 0)) return samples
    const gpus = await readGpus()
    for (const [id, held] of holders) {
      const sample = held.length === 0 ? null : sumUp(held, gpus)
      if (sample !== null) samples.set(id, sample)
    }
    return samples
  }
}

function isShared(index: number, { tiers }: Pick<LocalSettings, 'tiers'>): boolean {
  return Object.values(tiers ?? {}).some(
    ({ gpuCount, gpus, sharedBy }) => gpuCount > 0 && sharedBy > 1 && (gpus === null || gpus.includes(index)),
  )
}

/** Reads the lines `index, percent, MiB`. A figure that is not a number in its range (`[N/A]`) is null. */
function parseGpus(lines: readonly (readonly string[])[]): Sampled {
  const gpus = new Map<number, GpuSample>()
  for (const [index = '', percent = '', mib] of lines) {
    if (!/^\d{1,4}$/.test(index) || mib === undefined) continue
    const isPercent = /^\d{1,3}$/.test(percent) && Number(percent) <= PERCENT_MAX
    gpus.set(Number(index), {
      utilization: isPercent ? Number(percent) / PERCENT_MAX : null,
      memoryUsedGb: /^\d{1,9}$/.test(mib) ? Number(mib) / MIB_PER_GB : null,
    })
  }
  return gpus
}

/** Combines the GPUs of one instance. A figure is null unless all of them report it. Returns null without any figure. */
function sumUp(held: readonly number[], gpus: Sampled): GpuSample | null {
  const sum = (read: (gpu: GpuSample) => number | null): number | null =>
    held.reduce<number | null>((total, index) => {
      const gpu = gpus.get(index)
      const value = gpu === undefined ? null : read(gpu)
      return total === null || value === null ? null : total + value
    }, 0)
  const busy = sum(({ utilization }) => utilization)
  const memoryUsedGb = sum((gpu) => gpu.memoryUsedGb)
  if (busy === null && memoryUsedGb === null) return null
  return { utilization: busy === null ? null : busy / held.length, memoryUsedGb }
}
