import type { InstanceFailure, LaunchOrder } from '../gpu-driver.ts'
import type { KubernetesSettings } from './kubernetes-settings.ts'
import {
  INSTANCE_LABEL,
  instanceLabels,
  LAUNCHED_AT,
  LEFT_OUT,
  nameOf,
  ownerLabels,
  REFUSAL,
  STOPPED_AT,
  TIER_LABEL,
} from './object-names.ts'
import { TOKEN_KEY, writePod, type PodOptions } from './write-pod.ts'

interface DeploymentOptions extends PodOptions {
  readonly order: LaunchOrder
  readonly replicas: 0 | 1
  readonly launchedAtMs: number
  readonly leftOut: readonly string[]
  /** Why the order was refused, or null. A refused order is recorded but not started. */
  readonly refusal: InstanceFailure | null
}

const VARIABLES_SHOWN = 20

/** Writes the Deployment, which is the record of an instance. It owns the other objects and is kept for a while after the end. */
export function writeDeployment(options: DeploymentOptions): object {
  const { settings, order, replicas, leftOut, refusal } = options
  const labels = { ...instanceLabels(settings, order.instanceId), [TIER_LABEL]: order.tierId }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: nameOf(order.instanceId),
      namespace: settings.namespace,
      labels,
      annotations: {
        [LAUNCHED_AT]: new Date(options.launchedAtMs).toISOString(),
        ...(leftOut.length === 0 ? {} : { [LEFT_OUT]: leftOut.slice(0, VARIABLES_SHOWN).join(',') }),
        ...(refusal === null ? {} : { [REFUSAL]: JSON.stringify(refusal) }),
      },
    },
    spec: {
      replicas,
      revisionHistoryLimit: 0,
      // With a rolling update, two pods would need the GPUs at once.
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { [INSTANCE_LABEL]: order.instanceId } },
      template: { metadata: { labels }, spec: writePod(options) },
    },
  }
}

/** Writes the manifest of a stop. The stop then owns the number of replicas, so that a late launch cannot raise it. */
export function writeStop(
  settings: KubernetesSettings,
  instanceId: string,
  { uid, stoppedAtMs }: { uid: string; stoppedAtMs: number },
): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: nameOf(instanceId),
      namespace: settings.namespace,
      // Without the uid, the apply would create the Deployment again if it was deleted meanwhile.
      uid,
      annotations: { [STOPPED_AT]: new Date(stoppedAtMs).toISOString() },
    },
    spec: { replicas: 0 },
  }
}

/** Writes the metadata of an object owned by the Deployment. Kubernetes deletes it with its owner. */
function ownedBy(settings: KubernetesSettings, instanceId: string, ownerUid: string): object {
  return {
    name: nameOf(instanceId),
    namespace: settings.namespace,
    labels: instanceLabels(settings, instanceId),
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: nameOf(instanceId), uid: ownerUid }],
  }
}

export function writeService(settings: KubernetesSettings, instanceId: string, ownerUid: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: ownedBy(settings, instanceId, ownerUid),
    spec: {
      type: 'ClusterIP',
      selector: { [INSTANCE_LABEL]: instanceId },
      ports: [{ name: 'http', port: settings.port, targetPort: 'http', protocol: 'TCP' }],
    },
  }
}

export function writeSecret(
  settings: KubernetesSettings,
  instanceId: string,
  { ownerUid, token }: { ownerUid: string; token: string },
): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: ownedBy(settings, instanceId, ownerUid),
    type: 'Opaque',
    immutable: true,
    data: { [TOKEN_KEY]: Buffer.from(token).toString('base64') },
  }
}

/** Networks that engines must not reach: other pods, the nodes and the cloud's metadata service. */
const PRIVATE_NETWORKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16']
const PRIVATE_NETWORKS_6 = ['fc00::/7', 'fe80::/10']

export function policyNameOf({ gatewayName }: KubernetesSettings): string {
  return `${gatewayName}-engines`
}

/**
 * Writes one policy for all engines: only the gateway and `ingressCidrs` may call them; they may call DNS, public HTTPS and
 * `egressCidrs`.
 */
export function writeNetworkPolicy(settings: KubernetesSettings): object {
  const { network, namespace, port } = settings
  const gateway = {
    namespaceSelector: {
      matchLabels: { 'kubernetes.io/metadata.name': network.gatewayNamespace ?? namespace },
    },
    podSelector: { matchLabels: network.gatewayLabels },
  }
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: policyNameOf(settings), namespace, labels: ownerLabels(settings) },
    spec: {
      podSelector: { matchLabels: ownerLabels(settings) },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [gateway, ...network.ingressCidrs.map((cidr) => ({ ipBlock: { cidr } }))],
          ports: [{ protocol: 'TCP', port }],
        },
      ],
      egress: [
        {
          to: [{ namespaceSelector: {}, podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } } }],
          ports: [
            { protocol: 'UDP', port: 53 },
            { protocol: 'TCP', port: 53 },
          ],
        },
        {
          to: [
            { ipBlock: { cidr: '0.0.0.0/0', except: PRIVATE_NETWORKS } },
            { ipBlock: { cidr: '::/0', except: PRIVATE_NETWORKS_6 } },
          ],
          ports: [{ protocol: 'TCP', port: 443 }],
        },
        ...(network.egressCidrs.length === 0
          ? []
          : [{ to: network.egressCidrs.map((cidr) => ({ ipBlock: { cidr } })) }]),
      ],
    },
  }
}
