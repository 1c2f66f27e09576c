import type { KubernetesSettings } from './kubernetes-settings.ts'
import { nameOf } from './object-names.ts'

type EndpointSettings = Pick<KubernetesSettings, 'endpoint' | 'namespace' | 'port'>

/** Returns the address at which the gateway calls an engine. */
export function endpointOf({ endpoint, namespace, port }: EndpointSettings, instanceId: string): string {
  return endpoint
    .replaceAll('{name}', nameOf(instanceId))
    .replaceAll('{namespace}', namespace)
    .replaceAll('{port}', String(port))
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/** Returns whether an address is one that `endpointOf` wrote. */
export function isEngineEndpoint(settings: EndpointSettings, endpoint: string): boolean {
  const [instanceId] = ID.exec(endpoint) ?? []
  return instanceId !== undefined && endpointOf(settings, instanceId) === endpoint
}
