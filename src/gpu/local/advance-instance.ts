import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../kernel/clock.ts'
import type { InstanceFailure, LaunchOrder } from '../gpu-driver.ts'
import { writeCommand, writeEnvironment, writeLlamaCommand, hasLlamaEngine } from './engine-command.ts'
import type { EnginePlan, Placement } from './engine-plan.ts'
import { failInstance } from './fail-instance.ts'
import type { InstanceDirectory } from './instance-directory.ts'
import { isolateEngine, type IsolationOptions } from './isolate-engine.ts'
import { locateModel, NOT_USABLE, type LocatedModel } from './locate-model.ts'
import type { ModelFiles } from '../model-files.ts'
import { takePort } from './places.ts'

export interface AdvanceOptions extends IsolationOptions {
  /** Null if models are not fetched from the hub. */
  readonly files: ModelFiles | null
  /** Returns the account's hub token for an instance, in any process; null if it no longer exists or cannot be decrypted. */
  readonly readToken: (instanceId: string) => Promise<string | null>
  /** Whether the account of an instance may use the operator's hub token. */
  readonly mayUseHubToken: (instanceId: string) => Promise<boolean>
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
    const made = await makePlan(directory, { placement, model }, options)
    if ('failure' in made) {
      await fail(made.failure)
      return null
    }
    await directory.writePlan(made.plan)
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

const TOO_WEAK: InstanceFailure = {
  code: 'engine_crashed',
  message:
    'The engine cannot be isolated as the settings of this machine require. The log of the gateway says why.',
}

interface Planned {
  readonly placement: Placement
  readonly model: Extract<LocatedModel, { readonly state: 'ready' }>
}

async function makePlan(
  directory: InstanceDirectory,
  { placement, model }: Planned,
  options: AdvanceOptions,
): Promise<{ readonly plan: EnginePlan } | { readonly failure: InstanceFailure }> {
  const { settings, clock, restartMs, restartMsMax } = options
  const { gpus } = placement
  const { ggufPath } = model
  // Engines never get the token.
  const order: LaunchOrder = { ...placement.order, hubToken: null }
  const port = await takePort(directory, settings.ports, order.instanceId)
  const command =
    placement.command.length === 0 && ggufPath !== null
      ? writeLlamaCommand({ order, ggufPath, settings: settings.llamaCpp, port, gpus })
      : writeCommand({ order, command: placement.command, model, port, gpus })
  if (command === null) return { failure: NOT_USABLE }
  const { argv, user, problems, inherited, sandbox, isTooWeak } = await isolateEngine(
    directory,
    { instanceId: order.instanceId, argv: command, modelDirectory: model.directory },
    options,
  )
  for (const text of problems) options.report?.(text)
  if (isTooWeak) return { failure: TOO_WEAK }
  const { environment, leftOut } = writeEnvironment({ order, settings, inherited, gpus })
  return {
    plan: {
      instanceId: order.instanceId,
      argv: [...argv],
      environment,
      ...(user === null ? {} : { user: { ...user } }),
      isSandboxed: sandbox.program !== null,
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
      notes: [
        ...problems,
        ...leftOut.map((name) => `the variable ${name} is not allowed here and was left out`),
      ],
    },
  }
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
