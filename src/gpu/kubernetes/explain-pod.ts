import { explainEngine, OUT_OF_MEMORY, withLines } from '../explain-engine.ts'
import type { InstanceFailure } from '../gpu-driver.ts'
import {
  conditionOf,
  toMs,
  type ClusterDeployment,
  type ClusterPod,
  type ContainerStatus,
} from './cluster-objects.ts'
import { ENGINE_CONTAINER } from './write-pod.ts'

const IMAGE_PROBLEMS = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
])
const CONTAINER_PROBLEMS = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
])
/** An engine in a crash loop has failed after this many restarts. */
const RESTARTS_MAX = 2

interface ExplainOptions {
  /** Returns how long the pod has waited for a node, by the gateway's clock. */
  readonly waitedMs: (sinceMs: number) => number
  readonly scheduleTimeoutMs: number
  /** Reads the last lines of the ended engine. May send a request to the cluster. */
  readonly readLastLines: (pod: ClusterPod, restartCount: number) => Promise<readonly string[]>
}

/** Explains why a pod will not become ready. Returns null while it still may. */
export async function explainPod(pod: ClusterPod, options: ExplainOptions): Promise<InstanceFailure | null> {
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable') {
    const sinceMs = toMs(scheduled.lastTransitionTime) ?? 0
    return options.waitedMs(sinceMs) >= options.scheduleTimeoutMs ? NO_NODE : null
  }
  const engine = pod.status?.containerStatuses?.find(({ name }) => name === ENGINE_CONTAINER)
  if (engine === undefined) return null
  const { waiting } = engine.state ?? {}
  if (waiting?.reason !== undefined && IMAGE_PROBLEMS.has(waiting.reason))
    return {
      code: 'image_pull_failed',
      message: `The image of the engine could not be pulled (${waiting.reason}).`,
    }
  if (waiting?.reason !== undefined && CONTAINER_PROBLEMS.has(waiting.reason))
    return { code: 'engine_crashed', message: `The engine could not be started (${waiting.reason}).` }
  return explainEnd(pod, engine, options)
}

/** The tier has no free node or no quota left. */
export const NO_NODE: InstanceFailure = {
  code: 'capacity_exhausted',
  message: 'No machine of this tier is free.',
}

async function explainEnd(
  pod: ClusterPod,
  { state, lastState, restartCount = 0 }: ContainerStatus,
  { readLastLines }: ExplainOptions,
): Promise<InstanceFailure | null> {
  const ended = state?.terminated ?? lastState?.terminated
  if (ended === undefined) return null
  const kept = toLines(ended.message)
  if (ended.reason === 'OOMKilled')
    return { code: 'out_of_memory', message: withLines(OUT_OF_MEMORY.message, kept) }
  // The termination message often lacks the cause, so read more of the log.
  const lines = explainEngine(kept) === null ? await readLastLines(pod, restartCount) : kept
  const cause = explainEngine(lines)
  if (cause !== null) return cause
  const isLooping = state?.waiting?.reason === 'CrashLoopBackOff' && restartCount >= RESTARTS_MAX
  if (!isLooping) return null
  const how = ended.signal ? `signal ${ended.signal}` : `status ${ended.exitCode ?? 'unknown'}`
  return {
    code: 'engine_crashed',
    message: withLines(`The engine ended again and again (${how}).`, lines.length > 0 ? lines : kept),
  }
}

/** Explains why a Deployment gets no pod. Returns null if no failure is reported. */
export function explainDeployment(deployment: ClusterDeployment): InstanceFailure | null {
  const failure = conditionOf(deployment, 'ReplicaFailure')
  if (failure?.status !== 'True') return null
  if (/exceeded quota/i.test(failure.message ?? '')) return NO_NODE
  return {
    code: 'engine_crashed',
    message: `The cluster does not accept the engine (${failure.reason ?? ''}).`,
  }
}

export function toLines(text: string | null | undefined): readonly string[] {
  return (text ?? '').split('\n').flatMap((line) => line.trimEnd() || [])
}
