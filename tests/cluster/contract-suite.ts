import { afterAll, afterEach, beforeAll, describe, expect, vi } from 'vitest'
import { parseKubernetesSettings } from '../../src/app/settings/parse-kubernetes-settings.ts'
import type { GpuDriver, LaunchOrder } from '../../src/gpu/gpu-driver.ts'
import type { ClusterAccess } from '../../src/gpu/kubernetes/cluster-access.ts'
import { createClusterApi } from '../../src/gpu/kubernetes/cluster-api.ts'
import { createKubernetesDriver } from '../../src/gpu/kubernetes/kubernetes-driver.ts'
import { testGpuDriver } from '../../src/gpu/testing/test-gpu-driver.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { read } from '../upstreams/cluster/cluster-store.ts'
import { buildCluster } from './build-cluster.ts'
import { openGatewayAccess } from './open-gateway-access.ts'
import { playNodes } from './play-nodes.ts'
import { startCluster, type RealCluster } from './start-cluster.ts'

const programs = await buildCluster()
const canRun =
  programs.etcd !== null &&
  ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].every((name) => programs.binaries[name])

const DEPLOYMENTS = '/apis/apps/v1/namespaces/parkway/deployments'
const PODS = '/api/v1/namespaces/parkway/pods'
const WAIT = { timeout: 90_000, interval: 200 }
const AT_REST = ['ready', 'failed', 'gone']

describe.skipIf(!canRun)('with real controllers and a real scheduler', () => {
  let cluster: RealCluster
  let access: ClusterAccess
  let nodes: { close(): Promise<void> }
  let driver: (GpuDriver & { close(): Promise<void> }) | null = null
  let stages = 0

  beforeAll(async () => {
    cluster = await startCluster(programs)
    access = await openGatewayAccess(cluster)
    nodes = await playNodes(cluster, ['played-a', 'played-b'])
    const account = '/api/v1/namespaces/parkway/serviceaccounts/default'
    await vi.waitFor(async () => expect(await cluster.admin.get(account)).not.toBeNull(), WAIT)
  })
  afterEach(async () => {
    await driver?.close()
    const { items } = await cluster.admin.list(DEPLOYMENTS, '')
    for (const item of items)
      await cluster.admin.delete(`${DEPLOYMENTS}/${String(read(item, 'metadata', 'name'))}`)
    await vi.waitFor(async () => expect((await cluster.admin.list(PODS, '')).items).toEqual([]), WAIT)
  })
  afterAll(async () => {
    await nodes.close()
    await access.close()
    await cluster.close()
  })

  testGpuDriver('kubernetes', async () => {
    stages += 1
    const settings = {
      gateway_name: `gateway-${stages}`,
      account_variables: ['SANDBOX_FAILURE'],
      schedule_timeout_ms: 0,
      tiers: { played: { memory_gb: 80, count: 2, ram_gb: 1, cpu: 0.1, node_selector: { tier: 'played' } } },
    }
    const opened = createKubernetesDriver({
      api: createClusterApi(access),
      settings: parseKubernetesSettings(JSON.stringify(settings)),
      clock: systemClock,
      report: () => {},
      hubEndpoint: null,
      graceSeconds: 30,
      startSeconds: 600,
    })
    driver = opened
    const launched = new Set<string>()
    const launch = (order: LaunchOrder) => {
      launched.add(order.instanceId)
      return opened.launch(order)
    }
    const settle = () =>
      vi.waitFor(async () => {
        for (const id of launched) expect(AT_REST).toContain((await opened.observe(id)).state)
      }, WAIT)
    return {
      driver: { ...opened, launch },
      tierId: 'played',
      settle,
      failing: { SANDBOX_FAILURE: 'out_of_memory' },
      measuresGpus: false,
    }
  })
})
