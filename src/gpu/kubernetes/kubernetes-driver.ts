import { BoundedMap } from '../../kernel/bounded-map.ts'
import type { Clock } from '../../kernel/clock.ts'
import { nanoUsdFromUsd } from '../../kernel/money.ts'
import { GONE, type GpuDriver, type Observation } from '../gpu-driver.ts'
import { ClusterError, type ClusterApi } from './cluster-api.ts'
import { instanceOf, parseDeployment, type ClusterDeployment, type ClusterPod } from './cluster-objects.ts'
import { ClusterView } from './cluster-view.ts'
import { endpointOf } from './engine-endpoint.ts'
import { toLines } from './explain-pod.ts'
import { launchInstance, type LaunchOptions } from './launch-instance.ts'
import { isInstanceId, LEFT_OUT } from './object-names.ts'
import { newest, observeInstance, stoppedAtMs } from './observe-instance.ts'
import { writeStop } from './write-manifests.ts'
import { ENGINE_CONTAINER } from './write-pod.ts'

interface KubernetesDriverOptions extends LaunchOptions {
  readonly api: ClusterApi
  readonly clock: Clock
  readonly report: (problem: string, error: unknown) => void
}

/** How long Deployments of ended instances are kept, so that a late launch does not start them again. */
const REMEMBERED_MS = 3_600_000
/** Field manager that owns the number of replicas of a stopped instance. */
const STOP_MANAGER = 'parkway-stop'
/** Number of log lines to search for the cause of a failure, which is often far above the last line. */
const EXPLAINED_LINES = 400
const EXPLAINED_MAX = 1_000
const LOG_BYTES_MAX = 1_048_576

/** Creates the driver that runs vLLM in a cluster. Each instance has a Deployment and a Service. The cluster holds all state. */
export function createKubernetesDriver(
  options: KubernetesDriverOptions,
): GpuDriver & { close(): Promise<void> } {
  const { settings, clock, api } = options
  const view = new ClusterView(options)
  const explained = new BoundedMap<string, readonly string[]>({ entriesMax: EXPLAINED_MAX })

  const readLog = async (pod: ClusterPod, query: { lines: number; isPrevious: boolean }) =>
    toLines(
      await api.readLog(view.paths.log(pod.metadata.name), {
        container: ENGINE_CONTAINER,
        tailLines: String(query.lines),
        limitBytes: String(LOG_BYTES_MAX),
        previous: String(query.isPrevious),
      }),
    )
  const readLastLines = async (pod: ClusterPod, restartCount: number) => {
    const key = `${pod.metadata.uid} ${restartCount}`
    const known = explained.get(key)
    if (known !== undefined) return known
    const lines = await readLog(pod, { lines: EXPLAINED_LINES, isPrevious: hasRestarted(pod) })
    explained.set(key, lines)
    return lines
  }
  const look = async (deployment: ClusterDeployment, pods: readonly ClusterPod[]) =>
    observeInstance(deployment, pods, {
      nowMs: clock.nowMs(),
      endpoint: endpointOf(settings, instanceOf(deployment) ?? ''),
      scheduleTimeoutMs: settings.scheduleTimeoutMs,
      graceMs: options.graceSeconds * 1_000,
      readLastLines,
    })
  const observe = async (instanceId: string): Promise<Observation> => {
    const deployment = isInstanceId(instanceId) ? await view.findDeployment(instanceId) : null
    if (deployment === null) return GONE
    const seen = await look(deployment, await view.findPods(instanceId))
    // Check with the cluster before reporting `gone`: the watch may not have received a pod yet, and its time must be billed.
    return seen.state === 'gone' ? look(deployment, await view.readPods(instanceId)) : seen
  }
  const stop = async (instanceId: string): Promise<boolean> => {
    const deployment = isInstanceId(instanceId) ? await view.readDeployment(instanceId) : null
    if (deployment === null) return false
    const isFirst = stoppedAtMs(deployment) === null
    if (isFirst) await applyStop(deployment, instanceId)
    await api.delete(view.paths.secret(instanceId))
    await api.delete(view.paths.service(instanceId))
    return isFirst
  }
  const applyStop = async (deployment: ClusterDeployment, instanceId: string) => {
    const manifest = writeStop(settings, instanceId, {
      uid: deployment.metadata.uid,
      stoppedAtMs: clock.nowMs(),
    })
    const applied = await api
      .apply(view.paths.deployment(instanceId), manifest, { manager: STOP_MANAGER, isForced: true })
      .catch(nullIfDeleted)
    if (applied !== null) view.deployments.note(parseDeployment(applied))
  }

  return {
    id: 'kubernetes',
    capacity: async () => {
      const taken = await view.readTaken()
      return Object.entries(settings.tiers).map(([id, tier]) => ({
        id,
        gpuName: tier.gpuName,
        gpuCount: tier.gpuCount,
        vramGb: tier.memoryGb,
        pricePerHourNanoUsd: nanoUsdFromUsd(tier.pricePerHourUsd),
        availableCount: Math.max(0, tier.count - taken.filter(({ tierId }) => tierId === id).length),
        region: tier.region,
      }))
    },
    launch: async (order) => {
      if (!isInstanceId(order.instanceId)) throw new Error('not the id of an instance')
      const tier = new Map(Object.entries(settings.tiers)).get(order.tierId)
      if (tier === undefined) throw new Error(`there is no tier '${order.tierId}'`)
      await launchInstance(view, { order, tier, nowMs: clock.nowMs() }, options)
    },
    observe,
    logs: async (instanceId, { linesMax }) => {
      const deployment = isInstanceId(instanceId) ? await view.findDeployment(instanceId) : null
      if (deployment === null) return []
      const pods = await view.findPods(instanceId)
      const pod = newest(pods)
      const lines = pod === undefined ? [] : await readLog(pod, { lines: linesMax, isPrevious: false })
      // A container that waits for its restart has no log yet, so read the log of the previous one.
      const said =
        lines.length === 0 && pod !== undefined && hasRestarted(pod)
          ? await readLog(pod, { lines: linesMax, isPrevious: true })
          : lines
      const { failure } = await look(deployment, pods)
      const notes = deployment.metadata.annotations?.[LEFT_OUT]?.split(',') ?? []
      return [
        ...notes.map((name) => `the variable ${name} is not allowed here and was left out`),
        ...said,
        ...(failure === null ? [] : [`failed: ${failure.message}`]),
      ].slice(-linesMax)
    },
    stop: async (instanceId) => {
      await stop(instanceId)
    },
    sweep: async (findKnown) => {
      const byId = new Map(
        (await view.readDeployments()).flatMap((deployment) => {
          const id = instanceOf(deployment)
          return id === null ? [] : [[id, deployment] as const]
        }),
      )
      const known = await findKnown([...byId.keys()])
      const ended: string[] = []
      for (const [id, deployment] of byId) {
        if (known.has(id)) continue
        const stoppedMs = stoppedAtMs(deployment)
        if (stoppedMs === null && (await stop(id))) ended.push(id)
        if (stoppedMs !== null && clock.nowMs() - stoppedMs > REMEMBERED_MS)
          await api.delete(view.paths.deployment(id))
      }
      return ended
    },
    close: () => view.close(),
  }
}

function hasRestarted({ status }: ClusterPod): boolean {
  const engine = status?.containerStatuses?.find(({ name }) => name === ENGINE_CONTAINER)
  return engine?.state?.terminated === undefined && engine?.lastState?.terminated !== undefined
}

/** Returns null for the errors of a stop whose Deployment was deleted or replaced after it was read. */
function nullIfDeleted(error: unknown): null {
  if (error instanceof ClusterError && [404, 409, 422].includes(error.status)) return null
  throw error
}
