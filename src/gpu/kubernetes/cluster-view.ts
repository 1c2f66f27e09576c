import type { ClusterApi } from './cluster-api.ts'
import {
  instanceOf,
  parseDeployment,
  parsePod,
  type ClusterDeployment,
  type ClusterPod,
} from './cluster-objects.ts'
import type { KubernetesSettings } from './kubernetes-settings.ts'
import {
  createPaths,
  instanceLabels,
  ownerLabels,
  TIER_LABEL,
  toSelector,
  type ClusterPaths,
} from './object-names.ts'
import { ObjectWatch } from './object-watch.ts'
import { isReleased, readRefusal, stoppedAtMs } from './observe-instance.ts'

interface ClusterViewOptions {
  readonly api: ClusterApi
  readonly settings: KubernetesSettings
  readonly report: (problem: string, error: unknown) => void
}

/** An instance that occupies a machine of its tier. */
interface TakenMachine {
  readonly instanceId: string
  readonly tierId: string
}

/** Reads the gateway's objects from the watches while these are current, otherwise from the cluster. */
export class ClusterView {
  readonly api: ClusterApi
  readonly paths: ClusterPaths
  readonly deployments: ObjectWatch<ClusterDeployment>
  readonly pods: ObjectWatch<ClusterPod>
  readonly #settings: KubernetesSettings

  constructor({ api, settings, report }: ClusterViewOptions) {
    this.api = api
    this.#settings = settings
    this.paths = createPaths(settings)
    const selector = toSelector(ownerLabels(settings))
    const watched = { api, selector, report }
    this.deployments = new ObjectWatch({ ...watched, path: this.paths.deployments, parse: parseDeployment })
    this.pods = new ObjectWatch({ ...watched, path: this.paths.pods, parse: parsePod })
  }

  /** Reads the cluster if the watch has no such Deployment, because the watch may not have received a new one yet. */
  async findDeployment(instanceId: string): Promise<ClusterDeployment | null> {
    this.deployments.start()
    const [watched] = this.deployments.isCurrent ? this.deployments.of(instanceId) : []
    return watched ?? this.readDeployment(instanceId)
  }

  async readDeployment(instanceId: string): Promise<ClusterDeployment | null> {
    const found = await this.api.get(this.paths.deployment(instanceId))
    return found === null ? null : parseDeployment(found)
  }

  async findPods(instanceId: string): Promise<readonly ClusterPod[]> {
    this.pods.start()
    return this.pods.isCurrent ? this.pods.of(instanceId) : this.readPods(instanceId)
  }

  async readPods(instanceId: string): Promise<readonly ClusterPod[]> {
    const { items } = await this.api.list(
      this.paths.pods,
      toSelector(instanceLabels(this.#settings, instanceId)),
    )
    return items.map(parsePod)
  }

  async readDeployments(): Promise<readonly ClusterDeployment[]> {
    const { items } = await this.api.list(this.paths.deployments, toSelector(ownerLabels(this.#settings)))
    return items.map(parseDeployment)
  }

  /** Returns the instances that have a machine or wait for one. */
  async readTaken(): Promise<readonly TakenMachine[]> {
    this.deployments.start()
    this.pods.start()
    const isCurrent = this.deployments.isCurrent && this.pods.isCurrent
    const deployments = isCurrent ? this.deployments.all() : await this.readDeployments()
    const taken = await Promise.all(
      deployments.map(async (deployment) => {
        const instanceId = instanceOf(deployment)
        const tierId = deployment.metadata.labels?.[TIER_LABEL]
        if (instanceId === null || tierId === undefined || readRefusal(deployment) !== null) return []
        const isFree =
          stoppedAtMs(deployment) !== null && isReleased(deployment, await this.findPods(instanceId))
        return isFree ? [] : [{ instanceId, tierId }]
      }),
    )
    return taken.flat()
  }

  async close(): Promise<void> {
    await Promise.all([this.deployments.close(), this.pods.close()])
  }
}
