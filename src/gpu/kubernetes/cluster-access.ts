import type { Dispatcher } from 'undici'

/** How the API server of a cluster is reached. */
export interface ClusterAccess {
  readonly server: string
  authorize(): Promise<Authorization>
  close(): Promise<void>
}

/** Headers with credentials that may have been renewed, and the connections to use. */
interface Authorization {
  readonly headers: Readonly<Record<string, string>>
  readonly dispatcher: Dispatcher | undefined
}

/** Certificates may be renewed: new connections read them again. */
const CONNECTIONS_MS = 600_000

/** Reads a kubeconfig file, or the service account of the pod if there is none. Throws if neither names a cluster. */
export async function openClusterAccess(kubeconfig: string | null): Promise<ClusterAccess> {
  // It takes a second and 80 MB to load, which only gateways with a cluster should pay.
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
      // The client opens new connections for each request; these are used again.
      if (performance.now() - openedAtMs > CONNECTIONS_MS) {
        const old = dispatcher
        dispatcher = context.getDispatcher()
        openedAtMs = performance.now()
        // Waits for the requests that still use them.
        void old?.close().catch(() => {})
      }
      return { headers: context.getHeaders(), dispatcher }
    },
    close: async () => {
      await dispatcher?.destroy()
    },
  }
}
