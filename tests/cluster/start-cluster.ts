import { spawn, type ChildProcess } from 'node:child_process'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fetch } from 'undici'
import { vi } from 'vitest'
import { openClusterAccess } from '../../src/gpu/kubernetes/cluster-access.ts'
import { readKubeconfig } from '../../src/gpu/kubernetes/read-kubeconfig.ts'
import { createClusterApi, type ClusterApi } from '../../src/gpu/kubernetes/cluster-api.ts'
import type { ClusterPrograms } from './build-cluster.ts'
import { removeDirectory } from '../support/remove-directory.ts'

/** A real API server with the controllers and nodes that are available. */
export interface RealCluster {
  readonly server: string
  readonly adminToken: string
  /** The API with the rights of an administrator. */
  readonly admin: ClusterApi
  /** Certificates, logs and data. */
  readonly directory: string
  /** Sends a request as administrator, for operations that the driver does not have. */
  request(
    method: string,
    path: string,
    body?: object,
    type?: string,
  ): Promise<{ status: number; body: unknown }>
  /** Adds a node of a tier. It accepts only pods that tolerate the GPU taint. */
  addNode(name: string, node: { tier: string; annotations?: object; status?: object }): Promise<void>
  writeKubeconfig(token: string): Promise<string>
  close(): Promise<void>
}

const START_MS = 120_000
const RESOURCES = { cpu: '32', memory: '256Gi', pods: '110', 'nvidia.com/gpu': '1' }
const CONTROLLERS = [
  'deployment-controller',
  'replicaset-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
]

export async function startCluster({ etcd, binaries }: ClusterPrograms): Promise<RealCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-real-cluster-'))
  const children: ChildProcess[] = []
  const start = (name: string, command: string, words: readonly string[]) => {
    const log = openSync(join(directory, `${name}.log`), 'w')
    children.push(spawn(command, words, { cwd: directory, stdio: ['ignore', log, log] }))
  }
  const adminToken = randomUUID()
  const [client, peer, port] = [await freePort(), await freePort(), await freePort()]
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(join(directory, 'accounts.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }))
  await writeFile(join(directory, 'tokens.csv'), `${adminToken},admin,admin,system:masters\n`)
  start('etcd', etcd ?? '', [
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${client}`,
    `--advertise-client-urls=http://127.0.0.1:${client}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-cluster=default=http://127.0.0.1:${peer}`,
  ])
  const server = `https://127.0.0.1:${port}`
  start('kube-apiserver', binaries['kube-apiserver'] ?? '', [
    `--etcd-servers=http://127.0.0.1:${client}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${join(directory, 'certificates')}`,
    `--token-auth-file=${join(directory, 'tokens.csv')}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://cluster.example',
    `--service-account-key-file=${join(directory, 'accounts.key')}`,
    `--service-account-signing-key-file=${join(directory, 'accounts.key')}`,
    '--service-cluster-ip-range=10.96.0.0/16',
  ])
  const writeKubeconfig = async (token: string) => {
    const path = join(directory, `kubeconfig-${randomUUID()}`)
    const certificate = join(directory, 'certificates/apiserver.crt')
    await writeFile(path, JSON.stringify(toKubeconfig(server, certificate, token)))
    return path
  }
  await vi.waitFor(() => readFile(join(directory, 'certificates/apiserver.crt')), {
    timeout: START_MS,
    interval: 200,
  })
  const kubeconfig = await writeKubeconfig(adminToken)
  const access = openClusterAccess(await readKubeconfig(kubeconfig, process.env))
  const admin = createClusterApi(access)
  // The server creates the default namespace last.
  await vi.waitFor(
    async () => {
      if ((await admin.get('/api/v1/namespaces/default')) === null) throw new Error('the server is not ready')
    },
    { timeout: START_MS, interval: 500 },
  )
  const { 'kube-controller-manager': manager, 'kube-scheduler': scheduler, kwok } = binaries
  if (manager && scheduler) {
    start('kube-controller-manager', manager, [
      `--kubeconfig=${kubeconfig}`,
      '--secure-port=0',
      '--leader-elect=false',
      `--controllers=${CONTROLLERS.join(',')}`,
    ])
    start('kube-scheduler', scheduler, [
      `--kubeconfig=${kubeconfig}`,
      '--secure-port=0',
      '--leader-elect=false',
    ])
  }
  if (kwok)
    start('kwok', kwok, [
      `--kubeconfig=${kubeconfig}`,
      '--manage-all-nodes=false',
      '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
    ])
  const request: RealCluster['request'] = async (method, path, body, type = 'application/json') => {
    const { headers, dispatcher } = await access.authorize()
    const response = await fetch(`${server}${path}`, {
      method,
      headers: { ...headers, 'content-type': type },
      body: body === undefined ? null : JSON.stringify(body),
      ...(dispatcher && { dispatcher }),
    })
    return { status: response.status, body: await response.json() }
  }
  return {
    server,
    adminToken,
    admin,
    directory,
    writeKubeconfig,
    request,
    addNode: async (name, { tier, annotations = {}, status = {} }) => {
      const taints = [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' }]
      await request('POST', '/api/v1/nodes', {
        metadata: { name, labels: { tier }, annotations },
        spec: { taints },
        status: { allocatable: RESOURCES, capacity: RESOURCES, ...status },
      })
      // No node controller runs here, so this request removes the not-ready taint.
      await request('PATCH', `/api/v1/nodes/${name}`, { spec: { taints } }, 'application/merge-patch+json')
    },
    close: async () => {
      await access.close()
      for (const child of children.toReversed()) {
        child.kill('SIGKILL')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      }
      if (!process.env['PARKWAY_CLUSTER_KEEP']) await removeDirectory(directory)
      else process.stderr.write(`the logs of the cluster are in ${directory}\n`)
    },
  }
}

function toKubeconfig(server: string, certificate: string, token: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'real', cluster: { server, 'certificate-authority': certificate } }],
    users: [{ name: 'user', user: { token } }],
    contexts: [{ name: 'real', context: { cluster: 'real', user: 'user' } }],
    'current-context': 'real',
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
