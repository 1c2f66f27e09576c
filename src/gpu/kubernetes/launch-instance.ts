import type { InstanceFailure, LaunchOrder } from '../gpu-driver.ts'
import { ClusterError } from './cluster-api.ts'
import { parseDeployment, type ClusterDeployment } from './cluster-objects.ts'
import type { ClusterView } from './cluster-view.ts'
import { writeArguments, writeVariables } from './engine-arguments.ts'
import { NO_NODE } from './explain-pod.ts'
import type { KubernetesSettings, KubernetesTierSettings } from './kubernetes-settings.ts'
import { nameOf } from './object-names.ts'
import { readRefusal, stoppedAtMs } from './observe-instance.ts'
import {
  policyNameOf,
  writeDeployment,
  writeNetworkPolicy,
  writeSecret,
  writeService,
} from './write-manifests.ts'

export interface LaunchOptions {
  readonly settings: KubernetesSettings
  readonly hubEndpoint: string | null
  readonly graceSeconds: number
  readonly startSeconds: number
}

interface Launch {
  readonly order: LaunchOrder
  readonly tier: KubernetesTierSettings
  readonly nowMs: number
}

const NOT_USABLE: InstanceFailure = {
  code: 'model_unsupported',
  message: 'The engine cannot be started with this model and quantization.',
}
/** Field manager of all objects that the driver writes, except for the fields that a stop takes over. */
const MANAGER = 'parkway'
const CONFLICT = 409

/**
 * Launches an instance. Creates the Deployment first, with zero replicas, because it owns the Secret and the Service: if a
 * launch dies half way, a sweep finds what it left, or a repeated launch completes it.
 */
export async function launchInstance(
  view: ClusterView,
  launch: Launch,
  options: LaunchOptions,
): Promise<void> {
  const { settings } = options
  const { order } = launch
  const known = await view.readDeployment(order.instanceId)
  if (known !== null && !isUnfinished(known)) return
  const refusal = await findRefusal(view, launch, options)
  const token = refusal === null ? order.hubToken : null
  const write = (replicas: 0 | 1) =>
    describe(launch, options, { replicas, refusal, hasToken: token !== null })
  const record = await applyDeployment(view, order, write(0))
  if (record === null || refusal !== null) return
  const { api, paths } = view
  const { uid: ownerUid } = record.metadata
  const owned = { manager: MANAGER, isForced: true }
  const policy = policyNameOf(settings)
  await api.apply(paths.networkPolicy(policy), writeNetworkPolicy(settings), owned)
  if (token !== null) {
    const secret = writeSecret(settings, order.instanceId, { ownerUid, token })
    await api.apply(paths.secret(order.instanceId), secret, owned)
  }
  await api.apply(paths.service(order.instanceId), writeService(settings, order.instanceId, ownerUid), owned)
  await applyDeployment(view, order, write(1))
}

function isUnfinished(deployment: ClusterDeployment): boolean {
  return (
    stoppedAtMs(deployment) === null && readRefusal(deployment) === null && deployment.spec.replicas === 0
  )
}

async function findRefusal(
  view: ClusterView,
  { order, tier }: Launch,
  { settings }: LaunchOptions,
): Promise<InstanceFailure | null> {
  if (writeArguments(order, tier, settings) === null) return NOT_USABLE
  const others = (await view.readTaken()).filter(
    ({ tierId, instanceId }) => tierId === order.tierId && instanceId !== order.instanceId,
  )
  return others.length >= tier.count ? NO_NODE : null
}

interface Described {
  readonly replicas: 0 | 1
  readonly refusal: InstanceFailure | null
  readonly hasToken: boolean
}

/** Writes the Deployment of an order. That of a refused order has no arguments, variables or token. */
function describe(
  { order, tier, nowMs }: Launch,
  { settings, hubEndpoint, graceSeconds, startSeconds }: LaunchOptions,
  { replicas, refusal, hasToken }: Described,
): object {
  const isRefused = refusal !== null
  const { variables, leftOut } = writeVariables(order, settings, hubEndpoint)
  return writeDeployment({
    settings,
    order,
    tier,
    replicas,
    refusal,
    launchedAtMs: nowMs,
    commandArguments: isRefused ? [] : (writeArguments(order, tier, settings) ?? []),
    variables: isRefused ? [] : variables,
    leftOut: isRefused ? [] : leftOut,
    tokenSecret: hasToken ? nameOf(order.instanceId) : null,
    graceSeconds,
    startSeconds,
  })
}

/** Applies the Deployment. Returns null on a conflict: a stop owns the number of replicas by now. */
async function applyDeployment(
  view: ClusterView,
  { instanceId }: LaunchOrder,
  manifest: object,
): Promise<ClusterDeployment | null> {
  const options = { manager: MANAGER, isForced: false }
  try {
    const applied = await view.api.apply(view.paths.deployment(instanceId), manifest, options)
    const deployment = parseDeployment(applied)
    view.deployments.note(deployment)
    return deployment
  } catch (error) {
    if (error instanceof ClusterError && error.status === CONFLICT) return null
    throw error
  }
}
