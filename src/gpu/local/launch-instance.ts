import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Clock } from '../../kernel/clock.ts'
import type { InstanceFailure, LaunchOrder } from '../gpu-driver.ts'
import { BoundedLog } from './bounded-log.ts'
import { writeCommand, writeEnvironment } from './engine-command.ts'
import type { EnginePlan } from './engine-plan.ts'
import type { InstanceDirectory } from './instance-directory.ts'
import type { LocalSettings } from './local-settings.ts'
import type { LocalTier, Place } from './local-tiers.ts'
import { NOTHING } from './observe-instance.ts'
import { releaseAll, takePlace, takePort } from './places.ts'

export interface LaunchOptions {
  readonly settings: LocalSettings
  /** What engines inherit of the gateway's environment; programs are looked for on its `PATH`. */
  readonly inherited: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Before an engine that crashed is started again; twice as long each time. */
  readonly restartMs: number
  /** How long an engine that crashed may take to be ready again. */
  readonly restartMsMax: number
}

const KEEPER = join(import.meta.dirname, 'engine-keeper.ts')
/** A keeper does next to nothing. */
const KEEPER_FLAGS = ['--max-old-space-size=64', '--v8-pool-size=1']

const NO_PLACE: InstanceFailure = { code: 'capacity_exhausted', message: 'No place of this tier is free.' }
const NOT_USABLE: InstanceFailure = {
  code: 'model_unsupported',
  message: 'The model, its revision or its quantization cannot be given to an engine here.',
}

/** Takes a place and starts a keeper; whoever asks again for the same id changes nothing. */
export async function launchInstance(
  directory: InstanceDirectory,
  { order, tier }: { order: LaunchOrder; tier: LocalTier },
  options: LaunchOptions,
): Promise<void> {
  const { instanceId } = order
  if (!(await directory.create(instanceId, { orderedAtMs: Date.now() }))) return
  const place = await takePlace(directory, tier, instanceId)
  if (place === null) return fail(directory, instanceId, NO_PLACE)
  try {
    const plan = await makePlan(directory, { order, tier, place }, options)
    if (plan !== null) {
      await directory.writePlan(plan)
      startKeeper(directory.pathOf(instanceId), options.inherited)
      return
    }
  } catch (error) {
    await releaseAll(directory, place.names, instanceId)
    throw error
  }
  await fail(directory, instanceId, NOT_USABLE)
  await releaseAll(directory, place.names, instanceId)
}

async function makePlan(
  directory: InstanceDirectory,
  { order, tier, place }: { order: LaunchOrder; tier: LocalTier; place: Place },
  { settings, inherited, clock, restartMs, restartMsMax }: LaunchOptions,
): Promise<EnginePlan | null> {
  const port = await takePort(directory, settings.ports, order.instanceId)
  const { gpus } = place
  const argv = writeCommand({ order, command: tier.command, settings, port, gpus })
  if (argv === null) return null
  const { environment, leftOut } = writeEnvironment({ order, settings, inherited, gpus })
  const nowMs = clock.nowMs()
  return {
    instanceId: order.instanceId,
    argv,
    environment,
    port,
    model: order.huggingfaceId,
    healthPath: settings.healthPath,
    warmsUp: settings.warmsUp,
    stopGraceMs: settings.stopGraceMs,
    ramBytesMax: tier.ramBytesMax,
    restartMs,
    restartMsMax,
    clockAheadMs: nowMs - Date.now(),
    boundAtMs: nowMs,
    placeNames: [...place.names],
    notes: leftOut.map((name) => `the variable ${name} is not allowed here and was left out`),
  }
}

/** In a session of its own, so that neither a signal to the gateway nor its end reaches it. */
function startKeeper(path: string, env: Readonly<Record<string, string>>): void {
  const keeper = spawn(process.execPath, [...KEEPER_FLAGS, KEEPER, path], {
    cwd: path,
    env,
    detached: true,
    stdio: 'ignore',
  })
  // One that does not start is found missing by whoever looks.
  keeper.on('error', () => {})
  keeper.unref()
}

async function fail(
  directory: InstanceDirectory,
  instanceId: string,
  failure: InstanceFailure,
): Promise<void> {
  new BoundedLog(directory.pathOf(instanceId)).line(`failed: ${failure.message}`)
  await directory.writeState(instanceId, { ...NOTHING, failure })
}
