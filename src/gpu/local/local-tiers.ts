import { totalmem } from 'node:os'
import { nanoUsdFromUsd } from '../../kernel/money.ts'
import type { GpuTier } from '../gpu-driver.ts'
import type { FoundGpu } from './find-gpus.ts'
import type { EngineCommand, LocalSettings, LocalTierSettings } from './local-settings.ts'

/** A tier of this machine and its places for instances. */
export interface LocalTier extends Omit<GpuTier, 'availableCount'> {
  readonly places: readonly Place[]
  readonly ramBytesMax: number | null
  readonly command: EngineCommand
}

/** A place for one instance. The instance takes all of its names or none. */
export interface Place {
  readonly names: readonly string[]
  readonly gpus: readonly number[]
  /** Whether its GPUs have enough free memory for an instance. Other programs may use them too. */
  readonly hasMemory: boolean
}

const CPU_TIER = 'cpu_local'
const MIB_PER_GB = 1024
const BYTES_PER_GB = 1024 ** 3
/**
 * Share of the memory that instances need if it is not configured. A GPU with less free memory is not offered, and the rest of
 * the main memory is left to the gateway.
 */
const FREE_SHARE = 0.9

const DEFAULT_TIER: LocalTierSettings = {
  pricePerHourUsd: 0,
  count: 1,
  gpuCount: 0,
  gpus: null,
  sharedBy: 1,
  memoryGb: null,
  ramGb: null,
  command: null,
}

/** Returns the configured tiers. Without any, returns one tier per GPU model, or a CPU tier if there is no GPU. */
export function listTiers(settings: LocalSettings, gpus: readonly FoundGpu[]): readonly LocalTier[] {
  if (settings.tiers !== null)
    return Object.entries(settings.tiers).map(([id, tier]) => toTier(id, tier, settings, gpus))
  if (gpus.length === 0) return [toTier(CPU_TIER, DEFAULT_TIER, settings, gpus)]
  const kinds = Map.groupBy(gpus, (gpu) => tierIdOf(gpu))
  return [...kinds].map(([id, found]) => {
    const indexes = found.map(({ index }) => index)
    return toTier(id, { ...DEFAULT_TIER, gpuCount: 1, gpus: indexes }, settings, gpus)
  })
}

/** Returns the command of a tier's engines. Empty for the built-in llama.cpp engine. */
export function commandOf({ tiers, command }: LocalSettings, tierId: string): EngineCommand {
  const tier = tiers !== null && Object.hasOwn(tiers, tierId) ? tiers[tierId] : undefined
  return tier?.command ?? command
}

function toTier(
  id: string,
  tier: LocalTierSettings,
  { command }: LocalSettings,
  found: readonly FoundGpu[],
): LocalTier {
  const { gpuCount } = tier
  const usable = found.filter(({ index }) => tier.gpus === null || tier.gpus.includes(index))
  const memoryGb = tier.memoryGb ?? foundMemoryGb(usable.slice(0, gpuCount), gpuCount)
  const ramGb = tier.ramGb ?? (gpuCount === 0 ? memoryGb : null)
  return {
    id,
    gpuName: gpuCount === 0 ? 'CPU' : (usable[0]?.name ?? 'GPU'),
    gpuCount,
    vramGb: memoryGb,
    pricePerHourNanoUsd: nanoUsdFromUsd(tier.pricePerHourUsd),
    region: null,
    places: gpuCount === 0 ? processorPlaces(id, tier.count) : gpuPlaces(tier, usable),
    ramBytesMax: ramGb === null ? null : Math.floor(ramGb * BYTES_PER_GB),
    command: tier.command ?? command,
  }
}

function foundMemoryGb(gpus: readonly FoundGpu[], gpuCount: number): number {
  if (gpuCount === 0) return Math.max(1, Math.floor((machineBytes() * FREE_SHARE) / BYTES_PER_GB))
  return gpus.reduce((sum, gpu) => sum + nominalGb(gpu), 0)
}

/** Returns the memory of the machine, or the limit of the container that the gateway runs in. */
function machineBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem()
}

function processorPlaces(tierId: string, count: number): Place[] {
  return Array.from({ length: count }, (_, number) => ({
    names: [`tier-${tierId}.${number}`],
    gpus: [],
    hasMemory: true,
  }))
}

/** Groups adjacent GPUs. Of two instances that compete for a group, the one that takes its first GPU gets all of it. */
function gpuPlaces(
  { gpuCount, sharedBy, memoryGb }: LocalTierSettings,
  usable: readonly FoundGpu[],
): Place[] {
  const groups = Array.from({ length: Math.floor(usable.length / gpuCount) }, (_, group) =>
    usable.slice(group * gpuCount, (group + 1) * gpuCount),
  )
  return groups.flatMap((group) =>
    Array.from({ length: sharedBy }, (_, share) => ({
      names: group.map(({ index }) => `gpu-${index}.${share}`),
      gpus: group.map(({ index }) => index),
      hasMemory: group.every(({ totalMib, freeMib }) => {
        const neededMib =
          memoryGb === null ? (totalMib * FREE_SHARE) / sharedBy : (memoryGb / gpuCount) * MIB_PER_GB
        return freeMib >= Math.min(neededMib, totalMib * FREE_SHARE)
      }),
    })),
  )
}

/** Nominal memory sizes of GPUs. The reported size is a little smaller. */
const NOMINAL_GB = [2, 4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 180, 192, 288]

function nominalGb({ totalMib }: FoundGpu): number {
  const gb = totalMib / MIB_PER_GB
  return NOMINAL_GB.find((size) => size >= gb) ?? Math.round(gb)
}

/** Derives the tier id from the name of a GPU: `NVIDIA H100 80GB HBM3` becomes `h100_80gb`. */
function tierIdOf(gpu: FoundGpu): string {
  const words = gpu.name
    .toLowerCase()
    .replaceAll(/\b(?:nvidia|geforce|tesla|generation|hbm\w*|pcie|sxm\w*|nvl|\d+gb)\b/g, '')
  return `${words.replaceAll(/[^a-z0-9]/g, '') || 'gpu'}_${nominalGb(gpu)}gb`
}
