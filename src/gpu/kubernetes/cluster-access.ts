import type { Dispatcher } from 'undici'

/** Address and credentials of the API server of a cluster. */
export interface ClusterAccess {
  readonly server: string
  authorize(): Promise<Authorization>
  close(): Promise<void>
}

/** Headers with the current credentials, and the connection pool to use. */
interface Authorization {
  readonly headers: Readonly<Record<string, string>>
  readonly dispatcher: Dispatcher | undefined
}

/** Connections are replaced after this time, because certificates may be renewed and only new connections read them again. */
const CONNECTIONS_MS = 600_000

/** Reads the kubeconfig file, or without one the service account of the pod. Throws if the configuration names no cluster. */
export async function openClusterAccess(kubeconfig: string | null): Promise<ClusterAccess> {
  // Loaded on demand, because the package takes a second and 80 MB to load.
  const { HttpMethod, KubeConfig, RequestContext } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  if (kubeconfig === null) config.loadFromCluster()
  else config.loadFromFile(kubeconfig)
  const server = config.getCurrentCluster()?.server
  if (server === undefined || !URL.canParse(server)) throw new Error('the configuration names no cluster')

  let dispatcher: Dispatcher | undefined
  let openedAtMs = -Infinity
  return {
    server: server.replace(/\/+$/, ''),
    authorize: async () => {
      const context = new RequestContext(server, HttpMethod.GET)
      await config.applySecurityAuthentication(context)
      // The client package would open new connections for each request. Reuse its dispatcher instead.
      if (performance.now() - openedAtMs > CONNECTIONS_MS) {
        const old = dispatcher
        dispatcher = context.getDispatcher()
        openedAtMs = performance.now()
        // `close` waits for the requests that still use the old connections.
        void old?.close().catch(() => {})
      }
      return { headers: context.getHeaders(), dispatcher }
    },
    close: async () => {
      await dispatcher?.destroy()
    },
  }
}
