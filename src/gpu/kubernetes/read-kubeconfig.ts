import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parse } from 'yaml'
import type {
  ClusterConfiguration,
  ClusterUser,
  Environment,
  ExecPlugin,
  Pem,
} from './cluster-configuration.ts'

const Text = Type.Optional(Type.String())
const Cluster = Type.Object({
  server: Type.String(),
  'certificate-authority': Text,
  'certificate-authority-data': Text,
  'insecure-skip-tls-verify': Type.Optional(Type.Boolean()),
  'tls-server-name': Text,
  'proxy-url': Text,
})
const Exec = Type.Object({
  apiVersion: Type.String(),
  command: Type.String({ minLength: 1 }),
  args: Type.Optional(Type.Array(Type.String())),
  env: Type.Optional(Type.Array(Type.Object({ name: Type.String(), value: Type.String() }))),
  provideClusterInfo: Type.Optional(Type.Boolean()),
})
const User = Type.Object({
  token: Text,
  tokenFile: Text,
  username: Text,
  password: Text,
  'client-certificate': Text,
  'client-certificate-data': Text,
  'client-key': Text,
  'client-key-data': Text,
  as: Text,
  exec: Type.Optional(Exec),
  'auth-provider': Type.Optional(Type.Object({ name: Text })),
})
const Context = Type.Object({ cluster: Type.String(), user: Text })
const Name = Type.String()
const Kubeconfig = Type.Object({
  'current-context': Text,
  contexts: Type.Optional(Type.Array(Type.Object({ name: Name, context: Context }))),
  clusters: Type.Optional(Type.Array(Type.Object({ name: Name, cluster: Cluster }))),
  users: Type.Optional(Type.Array(Type.Object({ name: Name, user: Type.Optional(User) }))),
})

/** Reads the cluster and the user of the current context of a kubeconfig file. Throws if the file does not name a cluster. */
export async function readKubeconfig(path: string, environment: Environment): Promise<ClusterConfiguration> {
  // Programs write `null` for fields that are not set.
  const file: unknown = parse(await readFile(path, 'utf8'), (_key, value: unknown) => value ?? undefined)
  if (!Value.Check(Kubeconfig, file)) {
    const [first] = Value.Errors(Kubeconfig, file)
    throw new Error(`the kubeconfig is not valid: ${first?.instancePath} ${first?.message}`)
  }
  const context = file.contexts?.find(({ name }) => name === file['current-context'])?.context
  const cluster = file.clusters?.find(({ name }) => name === context?.cluster)?.cluster
  if (context === undefined || cluster === undefined) throw new Error('the configuration names no cluster')
  const user = file.users?.find(({ name }) => name === context.user)
  if (context.user !== undefined && user === undefined)
    throw new Error(`the configuration has no user ${context.user}`)
  const read = { directory: dirname(path), environment, cluster }
  return {
    server: cluster.server,
    certificateAuthority: toPem(
      read,
      cluster['certificate-authority-data'],
      cluster['certificate-authority'],
    ),
    isInsecure: cluster['insecure-skip-tls-verify'] ?? false,
    serverName: cluster['tls-server-name'] ?? null,
    proxyUrl: cluster['proxy-url'] ?? null,
    user: toUser(read, user?.user ?? {}),
  }
}

interface Read {
  /** Relative paths start at the directory of the file. */
  readonly directory: string
  readonly environment: Environment
  readonly cluster: Static<typeof Cluster>
}

function toUser(read: Read, user: Static<typeof User>): ClusterUser {
  if (user['auth-provider'] !== undefined)
    throw new Error(
      `auth-provider ${user['auth-provider'].name ?? ''} is not supported; use exec with the vendor's credential plugin`,
    )
  const { token = null, tokenFile, username, password = '', exec } = user
  return {
    token,
    tokenPath: tokenFile === undefined ? null : resolve(read.directory, tokenFile),
    basic: username === undefined ? null : `${username}:${password}`,
    certificate: toPem(read, user['client-certificate-data'], user['client-certificate']),
    key: toPem(read, user['client-key-data'], user['client-key']),
    impersonatedUser: user.as ?? null,
    exec: exec === undefined ? null : toPlugin(read, exec),
  }
}

/** Data in the file counts more than a path, as for `kubectl`. */
function toPem({ directory }: Read, data: string | undefined, path: string | undefined): Pem | null {
  if (data) return { bytes: Buffer.from(data, 'base64') }
  return path ? { path: resolve(directory, path) } : null
}

function toPlugin({ directory, environment, cluster }: Read, exec: Static<typeof Exec>): ExecPlugin {
  const { apiVersion, command, args = [], env = [], provideClusterInfo = false } = exec
  const info = { interactive: false, ...(provideClusterInfo && { cluster }) }
  return {
    // A name without a slash is searched in the PATH.
    command: command.includes('/') ? resolve(directory, command) : command,
    args,
    environment: {
      ...environment,
      ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: info }),
    },
  }
}
