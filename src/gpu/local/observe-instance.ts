import { GONE, type InstanceFailure, type Observation } from '../gpu-driver.ts'
import type { EnginePlan, EngineState, Placement } from './engine-plan.ts'
import { failInstance, NOTHING } from './fail-instance.ts'
import { isInstanceId, type InstanceDirectory } from './instance-directory.ts'
import { releaseAll } from './places.ts'
import { endTree, isAlive } from './process-tree.ts'

/** A launch without a result after this time counts as lost, because its process may have died. */
const LAUNCH_MS_MAX = 60_000
const OBSERVE_AGAIN_MS = 500

interface ObserveOptions {
  readonly nowMs: number
  /**
   * Advances an instance whose keeper has not been started and returns the download progress in percent, or null. If this is
   * null, the instance is only observed, but dead or stopped ones are still ended.
   */
  readonly advance: ((placement: Placement) => Promise<number | null>) | null
}

/** Observes an instance. If its keeper has died, kills its engine and ends the instance. */
export async function observeInstance(
  directory: InstanceDirectory,
  instanceId: string,
  options: ObserveOptions,
): Promise<Observation> {
  const { nowMs } = options
  const orderedAtMs = isInstanceId(instanceId) ? await directory.readOrderedAtMs(instanceId) : null
  if (orderedAtMs === null) return GONE
  // Read the stop request before the state: a keeper that writes its first state later sees the request.
  const isStopped = await directory.isStopRequested(instanceId)
  const state = await directory.readState(instanceId)
  const plan = await directory.readPlan(instanceId)
  if (state === null && plan === null) {
    const placement = await directory.readPlacement(instanceId)
    const startedAtMs = await directory.readStartedAtMs(instanceId)
    if (placement !== null && startedAtMs === null)
      return observeFetch(directory, { placement, isStopped }, options)
  }
  const sinceMs = (await directory.readStartedAtMs(instanceId)) ?? orderedAtMs
  if (state === null && !isStopped && Date.now() - sinceMs < LAUNCH_MS_MAX)
    return { ...GONE, state: 'pending', observeAgainMs: OBSERVE_AGAIN_MS }
  const isKept = state?.phase === 'ended' || (state?.keeper && (await isAlive(state.keeper)))
  if (state !== null && isKept) return toObservation(state, plan, isStopped)
  // Read again: the keeper may have written its final state and exited since the first read.
  const last = await directory.readState(instanceId)
  if (last?.phase === 'ended') return toObservation(last, plan, isStopped)
  return toObservation(await reap(directory, instanceId, { state: last, nowMs }), plan, isStopped)
}

/** Observes an instance whose model is still being fetched. It has a place but no keeper. */
async function observeFetch(
  directory: InstanceDirectory,
  { placement, isStopped }: { readonly placement: Placement; readonly isStopped: boolean },
  { nowMs, advance }: ObserveOptions,
): Promise<Observation> {
  const { boundAtMs } = placement
  if (isStopped) {
    await failInstance(directory, placement.order.instanceId, { failure: null, placement, nowMs })
    return { ...GONE, boundAtMs, releasedAtMs: nowMs }
  }
  const fetched = await advance?.(placement)
  const progress = Math.floor((fetched ?? 0) * FETCH_SHARE)
  return { ...GONE, state: 'loading', boundAtMs, progress, observeAgainMs: OBSERVE_AGAIN_MS }
}

/** Estimated share of the download in the startup progress. */
const FETCH_SHARE = 0.9

function toObservation(state: EngineState, plan: EnginePlan | null, isStopped: boolean): Observation {
  const { phase, boundAtMs, releasedAtMs, failure } = state
  const seen = { ...GONE, boundAtMs, releasedAtMs }
  if (phase === 'ended') return isStopped || failure === null ? seen : { ...seen, state: 'failed', failure }
  if (isStopped || phase === 'stopping')
    return { ...seen, state: 'stopping', observeAgainMs: OBSERVE_AGAIN_MS }
  if (phase === 'loading' || plan === null)
    return { ...seen, state: 'loading', observeAgainMs: OBSERVE_AGAIN_MS }
  return { ...seen, state: 'ready', progress: 100, endpoint: `http://127.0.0.1:${plan.port}/v1` }
}

const LOST: InstanceFailure = { code: 'engine_crashed', message: 'The keeper of the engine is gone.' }

interface Reaped {
  readonly state: EngineState | null
  readonly nowMs: number
}

/** Kills the processes that a dead keeper left behind, ends the instance and releases its place. */
async function reap(
  directory: InstanceDirectory,
  instanceId: string,
  { state, nowMs }: Reaped,
): Promise<EngineState> {
  const placement = await directory.readPlacement(instanceId)
  const known = state ?? { ...NOTHING, boundAtMs: placement?.boundAtMs ?? null }
  if (!(await endTree(instanceId, known.engine, 0))) return { ...known, phase: 'stopping' }
  const ended: EngineState = { ...known, phase: 'ended', failure: LOST, releasedAtMs: nowMs }
  await directory.writeState(instanceId, ended)
  await releaseAll(directory, placement?.placeNames ?? [], instanceId)
  return ended
}
