import type { KubernetesSettings } from './kubernetes-settings.ts'

/** Prefix of labels and annotations. */
const PREFIX = 'gateway.parkway'
export const INSTANCE_LABEL = `${PREFIX}/instance`
export const TIER_LABEL = `${PREFIX}/tier`
export const LAUNCHED_AT = `${PREFIX}/launched-at`
export const STOPPED_AT = `${PREFIX}/stopped-at`
/** Annotation with the code and message of a refused order. */
export const REFUSAL = `${PREFIX}/refusal`
export const LEFT_OUT = `${PREFIX}/left-out`

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns whether an id is a UUID. Only such ids are used in names and paths. */
export function isInstanceId(text: string): boolean {
  return UUID.test(text)
}

export function nameOf(instanceId: string): string {
  return `parkway-${instanceId}`
}

type Owner = Pick<KubernetesSettings, 'gatewayName'>

export function ownerLabels({ gatewayName }: Owner): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'parkway-engine',
    'app.kubernetes.io/managed-by': 'parkway',
    'app.kubernetes.io/instance': gatewayName,
  }
}

export function instanceLabels(owner: Owner, instanceId: string): Readonly<Record<string, string>> {
  return { ...ownerLabels(owner), [INSTANCE_LABEL]: instanceId }
}

export function toSelector(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
}

/** Returns the API paths of objects in a namespace. */
export function createPaths({ namespace }: Pick<KubernetesSettings, 'namespace'>) {
  const apps = `/apis/apps/v1/namespaces/${namespace}`
  const core = `/api/v1/namespaces/${namespace}`
  return {
    deployments: `${apps}/deployments`,
    deployment: (instanceId: string) => `${apps}/deployments/${nameOf(instanceId)}`,
    service: (instanceId: string) => `${core}/services/${nameOf(instanceId)}`,
    secret: (instanceId: string) => `${core}/secrets/${nameOf(instanceId)}`,
    pods: `${core}/pods`,
    log: (podName: string) => `${core}/pods/${encodeURIComponent(podName)}/log`,
    networkPolicy: (name: string) =>
      `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies/${name}`,
  }
}

export type ClusterPaths = ReturnType<typeof createPaths>
