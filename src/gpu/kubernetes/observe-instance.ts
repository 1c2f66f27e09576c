import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { parseJson } from '../../kernel/json/parse-json.ts'
import { FAILURE_CODES, GONE, type InstanceFailure, type Observation } from '../gpu-driver.ts'
import { conditionOf, toMs, type ClusterDeployment, type ClusterPod } from './cluster-objects.ts'
import { explainDeployment, explainPod } from './explain-pod.ts'
import { LAUNCHED_AT, REFUSAL, STOPPED_AT } from './object-names.ts'

interface ObserveOptions {
  readonly nowMs: number
  readonly endpoint: string
  readonly scheduleTimeoutMs: number
  readonly graceMs: number
  readonly readLastLines: (pod: ClusterPod, restartCount: number) => Promise<readonly string[]>
}

const OBSERVE_AGAIN_MS = 1_000
/** The cluster is watched, so a look at a ready instance sends no request. */
const OBSERVE_READY_MS = 5_000
const PROGRESS = { scheduled: 10, started: 50, ready: 100 } as const

/** Derives the state of an instance from its Deployment and all of its pods. */
export async function observeInstance(
  deployment: ClusterDeployment,
  pods: readonly ClusterPod[],
  options: ObserveOptions,
): Promise<Observation> {
  if (stoppedAtMs(deployment) !== null) return observeStopped(deployment, pods, options)
  const refusal = readRefusal(deployment)
  if (refusal !== null) return { ...GONE, state: 'failed', failure: refusal }
  const pod = newest(pods.filter(isLive))
  if (pod === undefined) {
    const failure = explainDeployment(deployment)
    if (failure !== null) return { ...GONE, state: 'failed', failure }
    return { ...GONE, state: 'pending', observeAgainMs: OBSERVE_AGAIN_MS }
  }
  const own = (clusterMs: number | null) =>
    clusterMs === null ? null : ownTime(deployment, clusterMs, options.nowMs)
  const seen = {
    ...GONE,
    boundAtMs: findBoundAtMs(deployment, [pod], options.nowMs),
    requestedAtMs: own(toMs(pod.metadata.creationTimestamp)),
    observeAgainMs: OBSERVE_AGAIN_MS,
  }
  if (conditionOf(pod, 'Ready')?.status === 'True')
    return {
      ...seen,
      state: 'ready',
      progress: PROGRESS.ready,
      endpoint: options.endpoint,
      observeAgainMs: OBSERVE_READY_MS,
    }
  const unreadyAtMs = own(toMs(conditionOf(pod, 'Ready')?.lastTransitionTime)) ?? seen.requestedAtMs
  const { scheduleTimeoutMs, readLastLines } = options
  const waitedMs = (sinceMs: number) => options.nowMs - ownTime(deployment, sinceMs, options.nowMs)
  const failure = await explainPod(pod, { waitedMs, scheduleTimeoutMs, readLastLines })
  if (failure !== null) return { ...seen, state: 'failed', failure, unreadyAtMs, observeAgainMs: null }
  if (seen.boundAtMs === null) return { ...seen, state: 'pending', unreadyAtMs }
  const hasStarted = pod.status?.containerStatuses?.some(({ state }) => state?.running !== undefined)
  return {
    ...seen,
    state: 'loading',
    unreadyAtMs,
    progress: hasStarted ? PROGRESS.started : PROGRESS.scheduled,
  }
}

/** Observes a stopped instance. Its GPU is free when the controller has processed the stop and no pod is left. */
function observeStopped(
  deployment: ClusterDeployment,
  pods: readonly ClusterPod[],
  { nowMs, graceMs }: ObserveOptions,
): Observation {
  const boundAtMs = findBoundAtMs(deployment, pods, nowMs)
  if (!isReleased(deployment, pods))
    return { ...GONE, state: 'stopping', boundAtMs, observeAgainMs: OBSERVE_AGAIN_MS }
  // The cluster does not record when a pod ended. Assume the end of the grace period if the gateway looks later than that.
  const latestMs = (stoppedAtMs(deployment) ?? nowMs) + graceMs
  return { ...GONE, releasedAtMs: latestMs < nowMs ? latestMs : null }
}

export function stoppedAtMs({ metadata }: ClusterDeployment): number | null {
  return toMs(metadata.annotations?.[STOPPED_AT])
}

/** Returns whether a stopped instance has released its resources. */
export function isReleased({ metadata, status }: ClusterDeployment, pods: readonly ClusterPod[]): boolean {
  const hasSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  return hasSeen && (status?.replicas ?? 0) === 0 && !pods.some(isLive)
}

/** Returns whether a pod has not ended. The object of an evicted or rejected pod stays until it is deleted. */
function isLive({ status }: ClusterPod): boolean {
  return status?.phase !== 'Failed' && status?.phase !== 'Succeeded'
}

const Refusal = Type.Object({ code: Type.Enum(FAILURE_CODES), message: Type.String() })

export function readRefusal({ metadata }: ClusterDeployment): InstanceFailure | null {
  const text = metadata.annotations?.[REFUSAL]
  return text === undefined ? null : Value.Parse(Refusal, parseJson(text))
}

/** Returns when the first of these pods was scheduled to a node, or null. */
function findBoundAtMs(
  deployment: ClusterDeployment,
  pods: readonly ClusterPod[],
  nowMs: number,
): number | null {
  const times = pods.flatMap((pod) => {
    const scheduled = conditionOf(pod, 'PodScheduled')
    return scheduled?.status === 'True' ? [toMs(scheduled.lastTransitionTime) ?? nowMs] : []
  })
  return times.length === 0 ? null : ownTime(deployment, Math.min(...times), nowMs)
}

/** Limits a time of the cluster's clock, which may be wrong, to the range from the launch to now. */
function ownTime({ metadata }: ClusterDeployment, clusterMs: number, nowMs: number): number {
  const launchedAtMs = toMs(metadata.annotations?.[LAUNCHED_AT]) ?? nowMs
  return Math.min(nowMs, Math.max(clusterMs, launchedAtMs))
}

/** Returns the newest pod. A pod that is being deleted is returned only if there is no other. */
export function newest(pods: readonly ClusterPod[]): ClusterPod | undefined {
  const rank = ({ metadata }: ClusterPod) =>
    (toMs(metadata.creationTimestamp) ?? 0) - (metadata.deletionTimestamp ? Number.MAX_SAFE_INTEGER : 0)
  return pods.toSorted((left, right) => rank(right) - rank(left))[0]
}
