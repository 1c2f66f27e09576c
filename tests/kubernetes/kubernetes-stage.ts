import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parseKubernetesSettings } from '../../src/app/settings/parse-kubernetes-settings.ts'
import type { GpuDriver, LaunchOrder } from '../../src/gpu/gpu-driver.ts'
import { openClusterAccess } from '../../src/gpu/kubernetes/cluster-access.ts'
import { readKubeconfig } from '../../src/gpu/kubernetes/read-kubeconfig.ts'
import { createClusterApi, type ClusterApi } from '../../src/gpu/kubernetes/cluster-api.ts'
import { createKubernetesDriver } from '../../src/gpu/kubernetes/kubernetes-driver.ts'
import { systemClock, type Clock } from '../../src/kernel/clock.ts'
import { createId } from '../../src/kernel/identifiers.ts'
import { eventually } from '../support/eventually.ts'
import { startClusterServer, type ClusterServer } from '../upstreams/cluster/cluster-server.ts'
import { removeDirectory } from '../support/remove-directory.ts'

/** Settings of a cluster with two machines of one tier. */
export const TWO_MACHINES = {
  namespace: 'engines',
  account_variables: ['SANDBOX_FAILURE'],
  schedule_timeout_ms: 0,
  tiers: { h100_80gb: { memory_gb: 80, count: 2, price_per_hour_usd: 2.5 } },
}

export interface KubernetesStage {
  readonly cluster: ClusterServer
  readonly api: ClusterApi
  readonly driver: GpuDriver
  readonly problems: string[]
  readonly kubeconfig: string
  order(given?: Partial<LaunchOrder>): LaunchOrder
  /** Creates the driver of another gateway process. */
  createDriver(clock?: Clock): Promise<GpuDriver>
  /** Lets the cluster finish its work, and waits until the driver has received the changes. */
  settle(): Promise<void>
  close(): Promise<void>
}

const AT_REST = ['ready', 'failed', 'gone']

export async function createKubernetesStage(settings: object = {}): Promise<KubernetesStage> {
  const cluster = await startClusterServer({ machines: 2 })
  const directory = await mkdtemp(join(tmpdir(), 'parkway-cluster-'))
  const kubeconfig = join(directory, 'kubeconfig')
  await writeFile(kubeconfig, JSON.stringify(toKubeconfig(cluster.url, cluster.token)))
  const closings: (() => Promise<void>)[] = []
  const launched = new Set<string>()
  const problems: string[] = []
  const open = async (clock: Clock) => {
    const access = openClusterAccess(await readKubeconfig(kubeconfig, process.env))
    const api = createClusterApi(access)
    const driver = createKubernetesDriver({
      api,
      settings: parseKubernetesSettings(JSON.stringify({ ...TWO_MACHINES, ...settings })),
      clock,
      report: (problem) => problems.push(problem),
      hubEndpoint: null,
      graceSeconds: 30,
      startSeconds: 600,
    })
    closings.push(
      () => driver.close(),
      () => access.close(),
    )
    const launch = (order: LaunchOrder) => {
      launched.add(order.instanceId)
      return driver.launch(order)
    }
    return { api, driver: { ...driver, launch } }
  }
  const { api, driver } = await open(systemClock)
  return {
    cluster,
    api,
    driver,
    problems,
    kubeconfig,
    order: (given = {}) => ({
      instanceId: createId(),
      tierId: 'h100_80gb',
      huggingfaceId: 'Qwen/Qwen3-8B',
      revision: null,
      quantization: 'auto',
      maxModelLen: null,
      hubToken: null,
      environment: {},
      ...given,
    }),
    createDriver: async (clock = systemClock) => (await open(clock)).driver,
    settle: async () => {
      cluster.nodes.settle()
      await eventually(async () => {
        for (const id of launched) expect(AT_REST).toContain((await driver.observe(id)).state)
      })
    },
    close: async () => {
      for (const close of closings) await close()
      await cluster.close()
      await removeDirectory(directory)
    },
  }
}

/** A kubeconfig for a server without TLS. */
function toKubeconfig(server: string, token: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'gateway', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'gateway' } }],
    'current-context': 'test',
  }
}
