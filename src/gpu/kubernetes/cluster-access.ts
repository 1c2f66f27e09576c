import { readFile } from 'node:fs/promises'
import { Agent, ProxyAgent, type Dispatcher } from 'undici'
import type { ClusterConfiguration, ClusterUser, Pem } from './cluster-configuration.ts'
import { createExecCredentials, type ExecCredential } from './exec-credentials.ts'

/** Address and credentials of the API server of a cluster. */
export interface ClusterAccess {
  readonly server: string
  authorize(): Promise<Authorization>
  close(): Promise<void>
}

/** Headers with the current credentials, and the connection pool to use. */
interface Authorization {
  readonly headers: Readonly<Record<string, string>>
  readonly dispatcher: Dispatcher
}

interface Connections {
  readonly opening: Promise<Dispatcher>
  readonly openedAtMs: number
  readonly certificate: string | null
}

/** Connections are replaced after this time, because certificates may be renewed and only new connections read them again. */
const CONNECTIONS_MS = 600_000
/** Load balancers of clouds close connections that are idle for 60 s. */
const KEEP_ALIVE_MS = 30_000

/** Throws if the address of the cluster is not one that credentials can be sent to. */
export function openClusterAccess(configuration: ClusterConfiguration): ClusterAccess {
  const { server, isInsecure, user } = configuration
  const protocol = URL.parse(server)?.protocol
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error('the configuration names no cluster')
  if (protocol === 'http:' && !isInsecure)
    throw new Error(`the address ${server} is not encrypted, which needs insecure-skip-tls-verify`)

  const readCredential = user.exec === null ? null : createExecCredentials(user.exec)
  let connections: Connections | null = null
  let isClosed = false

  const connect = (credential: ExecCredential | null): Promise<Dispatcher> => {
    const certificate = credential?.certificate ?? null
    const old = connections
    const isCurrent =
      old !== null && performance.now() - old.openedAtMs < CONNECTIONS_MS && old.certificate === certificate
    if (isCurrent) return old.opening
    const opening = openConnections(configuration, credential)
    const opened = { opening, openedAtMs: performance.now(), certificate }
    connections = opened
    opening.catch(() => {
      if (connections === opened) connections = null
    })
    // `close` waits for the requests that still use the old connections.
    old?.opening.then((dispatcher) => dispatcher.close()).catch(() => {})
    return opening
  }

  return {
    server: server.replace(/\/+$/, ''),
    authorize: async () => {
      const credential = (await readCredential?.()) ?? null
      const headers = await toHeaders(user, credential)
      if (isClosed) throw new Error('the access to the cluster is closed')
      return { headers, dispatcher: await connect(credential) }
    },
    close: async () => {
      isClosed = true
      const dispatcher = await connections?.opening.catch(() => null)
      await dispatcher?.destroy()
    },
  }
}

async function toHeaders(
  user: ClusterUser,
  credential: ExecCredential | null,
): Promise<Readonly<Record<string, string>>> {
  const stored = user.tokenPath === null ? user.token : (await readFile(user.tokenPath, 'utf8')).trim()
  const token = stored ?? credential?.token
  const basic = user.basic === null ? null : `Basic ${Buffer.from(user.basic).toString('base64')}`
  const authorization = token ? `Bearer ${token}` : basic
  return {
    ...(authorization !== null && { authorization }),
    ...(user.impersonatedUser !== null && { 'impersonate-user': user.impersonatedUser }),
  }
}

async function openConnections(
  { certificateAuthority, isInsecure, serverName, proxyUrl, user }: ClusterConfiguration,
  credential: ExecCredential | null,
): Promise<Dispatcher> {
  const [ca, cert, key] = await Promise.all([
    readPem(certificateAuthority),
    credential?.certificate ?? readPem(user.certificate),
    credential?.key ?? readPem(user.key),
  ])
  const tls = {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(serverName && { servername: serverName }),
    ...(isInsecure && { rejectUnauthorized: false }),
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  }
  if (proxyUrl === null) return new Agent({ connect: tls })
  // Only the proxy resolves names in undici, which is what `socks5h` asks for.
  return new ProxyAgent({ uri: proxyUrl.replace(/^socks5h:/, 'socks5:'), requestTls: tls })
}

async function readPem(pem: Pem | null): Promise<Buffer | null> {
  if (pem === null) return null
  return 'bytes' in pem ? pem.bytes : readFile(pem.path)
}
