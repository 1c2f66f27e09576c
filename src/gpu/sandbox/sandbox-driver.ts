import type { Clock } from '../../kernel/clock.ts'
import type {
  FailureCode,
  GpuDriver,
  GpuSample,
  InstanceFailure,
  LaunchOrder,
  Observation,
} from '../gpu-driver.ts'
import { FAILURE_CODES, GONE } from '../gpu-driver.ts'
import { SANDBOX_TIERS, type SandboxTier } from './sandbox-tiers.ts'

/** Store of the simulated machines. Like real machines, they outlive the gateway processes. */
interface SandboxMachines {
  /**
   * Takes a machine. Returns false if `machineCount` machines of the tier are taken. A known id changes nothing and returns
   * true.
   */
  take(machine: SandboxMachine, machineCount: number): Promise<boolean>
  read(instanceId: string): Promise<SandboxMachine | null>
  readAll(instanceIds: readonly string[]): Promise<readonly SandboxMachine[]>
  /** Sets the time at which the machine is released, unless one is already set. */
  release(instanceId: string, releasedAtMs: number): Promise<void>
  list(): Promise<readonly SandboxMachine[]>
  forget(instanceIds: readonly string[]): Promise<void>
}

interface SandboxMachine {
  readonly instanceId: string
  readonly tierId: string
  readonly huggingfaceId: string
  /** The failure to simulate, from the engine's environment, or null. */
  readonly failure: string | null
  readonly launchedAtMs: number
  /** Null until the machine is stopped. In the future while it is stopping. */
  readonly releasedAtMs: number | null
}

interface SandboxDriverOptions {
  readonly machines: SandboxMachines
  readonly clock: Clock
  readonly tiers?: readonly SandboxTier[]
  readonly timings?: Partial<SandboxTimings>
}

interface SandboxTimings {
  /** Time from the launch until a GPU is assigned. */
  readonly bindMs: number
  /** Time from the assignment of the GPU until the engine is ready. */
  readonly loadMs: number
  /** Time from the stop until the GPU is free. */
  readonly releaseMs: number
}

const TIMINGS: SandboxTimings = { bindMs: 2_000, loadMs: 8_000, releaseMs: 1_000 }
const SANDBOX_ENDPOINT = 'sandbox:'
/** Variable of the engine's environment that holds the failure code to simulate. */
const FAILURE_VARIABLE = 'SANDBOX_FAILURE'
/** The failure code of an instance that gets no machine, also if `capacity()` reports free ones. */
const NO_MACHINE: FailureCode = 'capacity_exhausted'
/** How long records of ended machines are kept, so that a late launch does not start them again. */
const REMEMBERED_MS = 3_600_000

/** Creates a driver that simulates instances without GPUs. Their state follows from the clock and the given timings. */
export function createSandboxDriver(options: SandboxDriverOptions): GpuDriver {
  const { machines, clock, tiers = SANDBOX_TIERS } = options
  const timings = { ...TIMINGS, ...options.timings }

  return {
    id: 'sandbox',
    capacity: async () => {
      const nowMs = clock.nowMs()
      const taken = (await machines.list()).filter((machine) => isTaken(machine, nowMs))
      return tiers.map(({ machineCount, ...tier }) => ({
        ...tier,
        availableCount: Math.max(0, machineCount - taken.filter(({ tierId }) => tierId === tier.id).length),
      }))
    },
    launch: async (order) => {
      const tier = tiers.find(({ id }) => id === order.tierId)
      if (tier === undefined) throw new Error(`there is no tier '${order.tierId}'`)
      const machine = machineOf(order, clock.nowMs())
      if (await machines.take(machine, tier.machineCount)) return
      // Record the failure, so that `observe` can report it.
      const failed = { ...machine, failure: NO_MACHINE }
      if ((await machines.read(order.instanceId)) === null) await machines.take(failed, Infinity)
    },
    observe: async (instanceId) => {
      const machine = await machines.read(instanceId)
      return machine === null ? GONE : observeMachine(machine, timings, clock.nowMs())
    },
    logs: async (instanceId, { linesMax }) => {
      const machine = await machines.read(instanceId)
      return machine === null ? [] : writeLog(machine, timings, clock.nowMs()).slice(-linesMax)
    },
    sampleGpus: async (instanceIds) => {
      const samples = new Map<string, GpuSample>()
      for (const machine of await machines.readAll(instanceIds)) {
        const tier = tiers.find(({ id }) => id === machine.tierId)
        const sample = tier === undefined ? null : sampleMachine(machine, tier, timings, clock.nowMs())
        if (sample !== null) samples.set(machine.instanceId, sample)
      }
      return samples
    },
    stop: (instanceId) => machines.release(instanceId, clock.nowMs() + timings.releaseMs),
    sweep: async (findKnown) => {
      const all = await machines.list()
      const known = await findKnown(all.map(({ instanceId }) => instanceId))
      const nowMs = clock.nowMs()
      const unknown = all.filter(({ instanceId }) => !known.has(instanceId))
      const orphans = unknown.filter((machine) => machine.releasedAtMs === null && isTaken(machine, nowMs))
      for (const { instanceId } of orphans) await machines.release(instanceId, nowMs)
      const ended = unknown.filter((machine) => isForgettable(machine, nowMs))
      if (ended.length > 0) await machines.forget(ended.map(({ instanceId }) => instanceId))
      return orphans.map(({ instanceId }) => instanceId)
    },
  }
}

function machineOf(
  { instanceId, tierId, huggingfaceId, environment }: LaunchOrder,
  nowMs: number,
): SandboxMachine {
  const failure = environment[FAILURE_VARIABLE] ?? null
  return { instanceId, tierId, huggingfaceId, failure, launchedAtMs: nowMs, releasedAtMs: null }
}

/** Returns whether the instance occupies a machine. One that failed for lack of capacity does not. */
function isTaken({ releasedAtMs, failure }: SandboxMachine, nowMs: number): boolean {
  return failure !== NO_MACHINE && (releasedAtMs === null || releasedAtMs > nowMs)
}

function isForgettable({ launchedAtMs, releasedAtMs, failure }: SandboxMachine, nowMs: number): boolean {
  const endedAtMs = releasedAtMs ?? (failure === NO_MACHINE ? launchedAtMs : null)
  return endedAtMs !== null && endedAtMs + REMEMBERED_MS < nowMs
}

function observeMachine(machine: SandboxMachine, timings: SandboxTimings, nowMs: number): Observation {
  const boundMs = machine.launchedAtMs + timings.bindMs
  const readyMs = boundMs + timings.loadMs
  const { releasedAtMs } = machine
  const isBound = boundMs <= nowMs && machine.failure !== NO_MACHINE && (releasedAtMs ?? nowMs) >= boundMs
  const bound = { ...GONE, boundAtMs: isBound ? boundMs : null }
  if (releasedAtMs !== null) {
    if (releasedAtMs <= nowMs) return { ...bound, releasedAtMs }
    return { ...bound, state: 'stopping', observeAgainMs: releasedAtMs - nowMs }
  }
  const failure = failureOf(machine)
  if (failure !== null && nowMs >= failsAtMs(failure.code, boundMs, readyMs, machine.launchedAtMs))
    return { ...bound, state: 'failed', failure }
  if (!isBound) return { ...bound, state: 'pending', observeAgainMs: Math.max(0, boundMs - nowMs) }
  if (nowMs < readyMs) {
    const progress = Math.floor(((nowMs - boundMs) / timings.loadMs) * 100)
    return { ...bound, state: 'loading', progress, observeAgainMs: readyMs - nowMs }
  }
  return { ...bound, state: 'ready', progress: 100, endpoint: SANDBOX_ENDPOINT }
}

/**
 * Returns when a failure occurs: missing capacity at the launch, a failed image pull when the GPU is assigned, a crash one
 * minute after the engine was ready, any other failure when the engine would become ready.
 */
function failsAtMs(code: FailureCode, boundMs: number, readyMs: number, launchedAtMs: number): number {
  if (code === NO_MACHINE) return launchedAtMs
  if (code === 'engine_crashed') return readyMs + CRASH_AFTER_MS
  return code === 'image_pull_failed' ? boundMs : readyMs
}

const CRASH_AFTER_MS = 60_000

const MESSAGES: Readonly<Record<FailureCode, string>> = {
  capacity_exhausted: 'No machine of this tier is free.',
  image_pull_failed: "The engine's image could not be pulled.",
  out_of_memory:
    'The model does not fit into the memory of the GPU. Choose a larger tier or a shorter context.',
  model_gated: 'The model is gated. Send a token of an account that has accepted its terms.',
  model_unsupported: 'The engine does not support the architecture of the model.',
  engine_crashed: 'The engine ended unexpectedly.',
}

function failureOf({ failure }: SandboxMachine): InstanceFailure | null {
  const code = FAILURE_CODES.find((known) => known === failure)
  return code === undefined ? null : { code, message: MESSAGES[code] }
}

/** The part of the memory that a ready engine uses, as vLLM does by default. */
const MEMORY_SHARE = 0.9
/** The simulated utilization rises and falls between 20 and 80 % in this time. */
const LOAD_PERIOD_MS = 600_000

/** Returns null for a machine whose GPU is not bound. A loading engine fills its memory and computes nothing. */
function sampleMachine(
  machine: SandboxMachine,
  { vramGb }: SandboxTier,
  timings: SandboxTimings,
  nowMs: number,
): GpuSample | null {
  const { state, progress } = observeMachine(machine, timings, nowMs)
  if (state !== 'loading' && state !== 'ready') return null
  const load = 0.5 + 0.3 * Math.sin((2 * Math.PI * (nowMs - machine.launchedAtMs)) / LOAD_PERIOD_MS)
  return {
    utilization: state === 'ready' ? load : 0,
    memoryUsedGb: vramGb * MEMORY_SHARE * (progress / 100),
  }
}

/** Writes the log lines of all events until now. Later calls return the same lines again. */
function writeLog(machine: SandboxMachine, timings: SandboxTimings, nowMs: number): string[] {
  const { launchedAtMs, releasedAtMs, huggingfaceId, tierId } = machine
  const endMs = Math.min(nowMs, releasedAtMs ?? nowMs)
  const boundMs = launchedAtMs + timings.bindMs
  const readyMs = boundMs + timings.loadMs
  const failure = failureOf(machine)
  const failedMs = failure === null ? Infinity : failsAtMs(failure.code, boundMs, readyMs, launchedAtMs)
  const isBound = failure?.code !== NO_MACHINE
  const said: readonly (readonly [number, string])[] = [
    [launchedAtMs, `launching ${huggingfaceId} on ${tierId}`],
    [isBound ? boundMs : Infinity, 'a GPU was bound; loading weights'],
    [readyMs < failedMs ? readyMs : Infinity, 'ready'],
    [failedMs, `failed: ${failure?.message ?? ''}`],
    [releasedAtMs ?? Infinity, 'the GPU was released'],
  ]
  return said.flatMap(([atMs, text]) => (atMs <= endMs ? [`${new Date(atMs).toISOString()} ${text}`] : []))
}
