import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { ClusterConfiguration, Environment } from './cluster-configuration.ts'

const DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Returns the configuration that a cluster gives to its pods, or null outside of a cluster. */
export function readServiceAccount(
  environment: Environment,
  directory = DIRECTORY,
): ClusterConfiguration | null {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = environment
  if (!host) return null
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    certificateAuthority: { path: join(directory, 'ca.crt') },
    isInsecure: false,
    serverName: null,
    proxyUrl: null,
    user: {
      token: null,
      tokenPath: join(directory, 'token'),
      basic: null,
      certificate: null,
      key: null,
      impersonatedUser: null,
      exec: null,
    },
  }
}
