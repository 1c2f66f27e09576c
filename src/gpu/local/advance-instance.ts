import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../kernel/clock.ts'
import { isReachableBy } from '../../kernel/system-user.ts'
import type { InstanceFailure, LaunchOrder } from '../gpu-driver.ts'
import { writeCommand, writeEnvironment, writeLlamaCommand, hasLlamaEngine } from './engine-command.ts'
import type { EnginePlan, Placement } from './engine-plan.ts'
import { chooseEngineUser, findUnreadable, letPass, shareModel, type ChosenUser } from './engine-user.ts'
import { failInstance } from './fail-instance.ts'
import { workPathOf, type InstanceDirectory } from './instance-directory.ts'
import type { LocalSettings } from './local-settings.ts'
import { locateModel, NOT_USABLE, type LocatedModel } from './locate-model.ts'
import type { ModelFiles } from '../model-files.ts'
import { takePort } from './places.ts'

export interface AdvanceOptions {
  readonly settings: LocalSettings
  /** Null if models are not fetched from the hub. */
  readonly files: ModelFiles | null
  /** Returns the account's hub token for an instance, in any process; null if it no longer exists or cannot be decrypted. */
  readonly readToken: (instanceId: string) => Promise<string | null>
  /** Whether the account of an instance may use the operator's hub token. */
  readonly mayUseHubToken: (instanceId: string) => Promise<boolean>
  /** Variables that engines inherit from the gateway. Their `PATH` is used to find programs. */
  readonly inherited: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Called with a problem that the operator should know. */
  readonly report?: (problem: string) => void
  /** Delay before a crashed engine is restarted. It doubles with each restart. */
  readonly restartMs: number
  /** Time limit for a restarted engine to become ready. */
  readonly restartMsMax: number
}

const KEEPER = fileURLToPath(new URL('engine-keeper.ts', import.meta.url))
/** A keeper needs little memory and few threads. */
const KEEPER_FLAGS = ['--max-old-space-size=64', '--v8-pool-size=1']

/**
 * Advances an instance that has a place: fetches its model, then starts its keeper once. Any process may call this. Returns the
 * download progress in percent while the model is being fetched, otherwise null.
 */
export async function advanceInstance(
  directory: InstanceDirectory,
  placement: Placement,
  options: AdvanceOptions,
): Promise<number | null> {
  const { command, hasToken } = placement
  const { settings, files, clock } = options
  const { instanceId } = placement.order
  const readToken = hasToken ? () => options.readToken(instanceId) : null
  const mayUseHubToken = () => options.mayUseHubToken(instanceId)
  const { order } = placement
  const model = await locateModel({ order, command, settings, files, readToken, mayUseHubToken })
  if (model.state === 'fetching') return model.progress
  const isFirst = await directory.claimStart(instanceId)
  if (!isFirst) return null
  const fail = (failure: InstanceFailure) =>
    failInstance(directory, instanceId, { failure, placement, nowMs: clock.nowMs() })
  if (model.state === 'failed') {
    await fail(model.failure)
    return null
  }
  if (command.length === 0 && model.ggufPath !== null && !hasLlamaEngine()) {
    await fail(ENGINE_MISSING)
    return null
  }
  try {
    const plan = await makePlan(directory, { placement, model }, options)
    if (plan === null) {
      await fail(NOT_USABLE)
      return null
    }
    await directory.writePlan(plan)
  } catch (error) {
    await fail({ code: 'engine_crashed', message: 'The engine could not be prepared on this machine.' })
    throw error
  }
  startKeeper(directory.pathOf(instanceId), options.inherited)
  return null
}

const ENGINE_MISSING: InstanceFailure = {
  code: 'engine_crashed',
  message:
    'The engine for GGUF models is not installed. Tell the operator to run "npm install node-llama-cpp".',
}

interface Planned {
  readonly placement: Placement
  readonly model: Extract<LocatedModel, { readonly state: 'ready' }>
}

async function makePlan(
  directory: InstanceDirectory,
  { placement, model }: Planned,
  options: AdvanceOptions,
): Promise<EnginePlan | null> {
  const { settings, clock, restartMs, restartMsMax } = options
  const { command, gpus } = placement
  const { ggufPath } = model
  // Engines never get the token.
  const order: LaunchOrder = { ...placement.order, hubToken: null }
  const port = await takePort(directory, settings.ports, order.instanceId)
  const argv =
    command.length === 0 && ggufPath !== null
      ? writeLlamaCommand({ order, ggufPath, settings: settings.llamaCpp, port, gpus })
      : writeCommand({ order, command, model, port, gpus })
  if (argv === null) return null
  const { user, problem } = await prepareUser(
    directory,
    { instanceId: order.instanceId, argv, model },
    options,
  )
  const told = problem === null ? [] : [`the engine runs as root, because ${problem}`]
  for (const text of told) options.report?.(text)
  const { TMPDIR: _own, ...others } = options.inherited
  const home = workPathOf(directory.pathOf(order.instanceId))
  const inherited = user === null ? options.inherited : { ...others, HOME: home }
  const { environment, leftOut } = writeEnvironment({ order, settings, inherited, gpus })
  return {
    instanceId: order.instanceId,
    argv,
    environment,
    ...(user === null ? {} : { user: { ...user } }),
    port,
    model: order.huggingfaceId,
    healthPath: settings.healthPath,
    warmsUp: settings.warmsUp,
    hangMs: settings.hangMs,
    stopGraceMs: settings.stopGraceMs,
    ramBytesMax: placement.ramBytesMax,
    restartMs,
    restartMsMax,
    clockAheadMs: clock.nowMs() - Date.now(),
    boundAtMs: placement.boundAtMs,
    placeNames: placement.placeNames,
    notes: [...told, ...leftOut.map((name) => `the variable ${name} is not allowed here and was left out`)],
  }
}

interface PreparedEngine extends Pick<Planned, 'model'> {
  readonly instanceId: string
  readonly argv: readonly string[]
}

/** Gives the engine its user, and that user the right to reach its own files. Without that right it runs as the gateway's user. */
async function prepareUser(
  directory: InstanceDirectory,
  { instanceId, argv, model }: PreparedEngine,
  { settings, inherited }: AdvanceOptions,
): Promise<ChosenUser> {
  const { user, problem } = await chooseEngineUser(settings.user)
  if (user === null) return { user, problem }
  const paths = directory.pathsTo(instanceId)
  await letPass(paths, user)
  if (settings.modelsDirectory === null && model.directory !== null) await shareModel(model.directory, user)
  const isReachable = await isReachableBy(directory.pathOf(instanceId), user)
  const unreadable = isReachable
    ? await findUnreadable(argv, inherited['PATH'] ?? '', user)
    : directory.pathOf(instanceId)
  if (unreadable === null) return { user, problem: null }
  return { user: null, problem: `the user ${user.uid} cannot read ${unreadable}` }
}

/** Starts the keeper in its own session, so that it outlives the gateway and gets none of its signals. */
function startKeeper(path: string, env: Readonly<Record<string, string>>): void {
  const keeper = spawn(process.execPath, [...KEEPER_FLAGS, KEEPER, path], {
    cwd: path,
    env,
    detached: true,
    stdio: 'ignore',
  })
  // `observe` reports a keeper that did not start.
  keeper.on('error', () => {})
  keeper.unref()
}
