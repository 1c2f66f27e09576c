import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { read } from '../upstreams/cluster/cluster-store.ts'
import type { RealCluster } from './start-cluster.ts'

interface PlayedNodes {
  close(): Promise<void>
}

const PODS = '/api/v1/namespaces/parkway/pods'
const PACE_MS = 200

/** Simulates nodes whose engines fail by the variable SANDBOX_FAILURE. Serves kubelet logs, which the nodes of kwok cannot. */
export async function playNodes(cluster: RealCluster, names: readonly string[]): Promise<PlayedNodes> {
  const certificates = join(cluster.directory, 'certificates')
  const [cert, key] = await Promise.all(
    ['crt', 'key'].map((end) => readFile(join(certificates, `apiserver.${end}`))),
  )
  const kubelet = createServer({ cert, key }, (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'https://kubelet')
    const lines = ['the engine starts', 'it loads', 'it is ready']
    response.end(lines.slice(-Number(searchParams.get('tailLines') ?? 3)).join('\n'))
  })
  await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve))
  const { port } = kubelet.address() as AddressInfo
  for (const name of names)
    await cluster.addNode(name, {
      tier: 'played',
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: port } },
      },
    })
  let work: Promise<void> = Promise.resolve()
  const pace = setInterval(() => {
    work = work.then(() => step(cluster, names)).catch(() => {})
  }, PACE_MS)
  return {
    close: async () => {
      clearInterval(pace)
      await work
      kubelet.closeAllConnections()
      await new Promise((resolve) => kubelet.close(resolve))
    },
  }
}

/** Starts the engines of new pods, and ends those that are deleted. */
async function step(cluster: RealCluster, names: readonly string[]): Promise<void> {
  const { items } = await cluster.admin.list(PODS, '')
  for (const pod of items) {
    if (!names.includes(String(read(pod, 'spec', 'nodeName')))) continue
    const path = `${PODS}/${String(read(pod, 'metadata', 'name'))}`
    if (read(pod, 'metadata', 'deletionTimestamp') !== undefined)
      await cluster.request('DELETE', path, {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        gracePeriodSeconds: 0,
      })
    else if (read(pod, 'status', 'containerStatuses') === undefined)
      await cluster.request(
        'PATCH',
        `${path}/status`,
        { status: statusOf(pod) },
        'application/strategic-merge-patch+json',
      )
  }
}

function statusOf(pod: unknown): object {
  const hasFailed = JSON.stringify(read(pod, 'spec', 'containers')).includes('SANDBOX_FAILURE')
  const containers = read(pod, 'spec', 'containers')
  const [container] = Array.isArray(containers) ? containers : []
  const about = { name: 'engine', image: String(read(container, 'image')), imageID: '' }
  const startedAt = new Date().toISOString()
  const ended = { exitCode: 137, reason: 'OOMKilled', startedAt, finishedAt: startedAt }
  const status = hasFailed
    ? {
        ...about,
        ready: false,
        restartCount: 1,
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: { terminated: ended },
      }
    : { ...about, ready: true, restartCount: 0, state: { running: { startedAt } } }
  return {
    phase: 'Running',
    containerStatuses: [status],
    conditions: [{ type: 'Ready', status: hasFailed ? 'False' : 'True' }],
  }
}
