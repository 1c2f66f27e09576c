import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { parseKubernetesSettings } from '../../src/app/settings/parse-kubernetes-settings.ts'
import type { GpuDriver, LaunchOrder } from '../../src/gpu/gpu-driver.ts'
import type { ClusterAccess } from '../../src/gpu/kubernetes/cluster-access.ts'
import { createClusterApi } from '../../src/gpu/kubernetes/cluster-api.ts'
import { createKubernetesDriver } from '../../src/gpu/kubernetes/kubernetes-driver.ts'
import { writeArguments, writeVariables } from '../../src/gpu/kubernetes/engine-arguments.ts'
import { createPaths, nameOf } from '../../src/gpu/kubernetes/object-names.ts'
import {
  policyNameOf,
  writeDeployment,
  writeNetworkPolicy,
  writeSecret,
  writeService,
} from '../../src/gpu/kubernetes/write-manifests.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { createId } from '../../src/kernel/identifiers.ts'
import { read } from '../upstreams/cluster/cluster-store.ts'
import { buildCluster, KUBERNETES, tellMissing, type ClusterPrograms } from './build-cluster.ts'
import { openGatewayAccess, pathOf } from './open-gateway-access.ts'
import { startCluster, type RealCluster } from './start-cluster.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const programs: ClusterPrograms = await buildCluster()
tellMissing(programs)
const canStart = programs.etcd !== null && programs.binaries['kube-apiserver'] !== null
const hasNodes = ['kube-controller-manager', 'kube-scheduler', 'kwok'].every(
  (name) => programs.binaries[name],
)

const SETTINGS = {
  namespace: 'parkway',
  schedule_timeout_ms: 0,
  tiers: {
    h100_80gb: { memory_gb: 80, count: 5, ram_gb: 1, cpu: 0.1, node_selector: { tier: 'h100' } },
    h100_80gb_x2: { memory_gb: 160, gpu_count: 2, count: 5 },
    cpu: { memory_gb: 8, gpu_count: 0, count: 5 },
  },
}

const order = (given: Partial<LaunchOrder> = {}): LaunchOrder => ({
  instanceId: createId(),
  tierId: 'h100_80gb',
  huggingfaceId: 'Qwen/Qwen3-8B',
  revision: 'main',
  quantization: 'auto',
  maxModelLen: 4096,
  hubToken: null,
  environment: {},
  ...given,
})

describe.skipIf(!canStart)('a real API server', () => {
  let cluster: RealCluster
  let access: ClusterAccess
  let driver: GpuDriver & { close(): Promise<void> }
  const problems: string[] = []

  beforeAll(async () => {
    cluster = await startCluster(programs)
    access = await openGatewayAccess(cluster)
    driver = createKubernetesDriver({
      api: createClusterApi(access),
      settings: parseKubernetesSettings(JSON.stringify(SETTINGS)),
      clock: systemClock,
      report: (problem, error) => problems.push(`${problem}: ${String(error)}`),
      hubEndpoint: null,
      graceSeconds: 30,
      startSeconds: 600,
    })
  })
  afterAll(async () => {
    await driver.close()
    await access.close()
    await cluster.close()
  })

  const dryRun = async (path: string, manifest: object) =>
    cluster.request('PATCH', `${path}?dryRun=All&fieldManager=test&fieldValidation=Strict`, manifest, APPLY)

  test.each([
    ['a claim', { cache: { claim: 'models' } }, {}],
    ['a directory of the node', { cache: { host_path: '/srv/models' }, runtime_class: 'nvidia' }, {}],
    ['an empty volume', { image_pull_secrets: ['registry'], args: ['--enforce-eager'] }, {}],
    ['two GPUs and a quantization', {}, { tierId: 'h100_80gb_x2', quantization: 'fp8' }],
    ['no GPU', {}, { tierId: 'cpu' }],
    ['hostile variables', { account_variables: ['A'] }, { environment: { A: '$(HF_TOKEN)"\'{}' } }],
  ])('accepts every object of an engine with %s', async (_, given, changes) => {
    const settings = parseKubernetesSettings(JSON.stringify({ ...SETTINGS, ...given }))
    const launched = order(changes)
    const paths = createPaths(settings)
    const tier = settings.tiers[launched.tierId]
    if (tier === undefined) throw new Error('there is no such tier')
    const { variables, leftOut } = writeVariables(launched, settings, 'https://hub.example')
    const { instanceId } = launched
    const deployment = writeDeployment({
      settings,
      order: launched,
      tier,
      variables,
      leftOut,
      commandArguments: writeArguments(launched, tier, settings) ?? [],
      replicas: 1,
      refusal: { code: 'model_unsupported', message: 'No "engine".' },
      launchedAtMs: Date.now(),
      tokenSecret: nameOf(instanceId),
      graceSeconds: 45,
      startSeconds: 1_800,
    })
    const secret = writeSecret(settings, instanceId, { ownerUid: 'uid', token: 'hf_secret' })
    const answers = [
      await dryRun(paths.deployment(instanceId), deployment),
      await dryRun(paths.secret(instanceId), secret),
      await dryRun(paths.service(instanceId), writeService(settings, instanceId, 'uid')),
      await dryRun(paths.networkPolicy(policyNameOf(settings)), writeNetworkPolicy(settings)),
    ]
    expect(answers.map(({ status, body }) => [status, read(body, 'message')])).toEqual(
      answers.map(() => [201, undefined]),
    )
  })

  test('keeps a stopped instance stopped, and lets the gateway do no more than the manifest says', async () => {
    const launched = order({ hubToken: 'hf_secret' })
    await driver.launch(launched)
    await driver.launch(launched)
    const paths = createPaths({ namespace: 'parkway' })
    const before = await cluster.admin.get(paths.deployment(launched.instanceId))
    expect([
      read(before, 'spec', 'replicas'),
      await cluster.admin.get(paths.secret(launched.instanceId)),
    ]).toEqual([1, expect.anything()])
    await driver.stop(launched.instanceId)
    const stopped = await cluster.admin.get(paths.deployment(launched.instanceId))
    expect(read(stopped, 'spec', 'replicas')).toBe(0)
    expect(await cluster.admin.get(paths.secret(launched.instanceId))).toBeNull()
    expect(await cluster.admin.get(paths.service(launched.instanceId))).toBeNull()
    // The last step of a launch that began before the stop.
    const raised = {
      ...Object(before),
      metadata: { name: nameOf(launched.instanceId) },
      spec: Object(read(before, 'spec')),
    }
    const api = createClusterApi(access)
    await expect(
      api.apply(paths.deployment(launched.instanceId), raised, { manager: 'parkway', isForced: false }),
    ).rejects.toMatchObject({ status: 409 })
    await driver.launch(launched)
    expect(read(await cluster.admin.get(paths.deployment(launched.instanceId)), 'spec', 'replicas')).toBe(0)
    await expect(api.get(paths.secret(launched.instanceId))).rejects.toMatchObject({ status: 403 })
    await expect(api.get('/api/v1/namespaces/default')).rejects.toMatchObject({ status: 403 })
  })

  test('has a watch that tells changes to another process', async () => {
    const launched = order()
    await driver.launch(launched)
    await driver.observe(launched.instanceId)
    const other = createKubernetesDriver({
      api: createClusterApi(access),
      settings: parseKubernetesSettings(JSON.stringify(SETTINGS)),
      clock: systemClock,
      report: () => {},
      hubEndpoint: null,
      graceSeconds: 30,
      startSeconds: 600,
    })
    await vi.waitFor(async () => {
      expect((await other.observe(launched.instanceId)).state).not.toBe('gone')
    }, WAIT)
    await driver.stop(launched.instanceId)
    await vi.waitFor(async () => {
      expect((await other.observe(launched.instanceId)).state).toMatch(/^(stopping|gone)$/)
    }, WAIT)
    await other.close()
    expect(problems).toEqual([])
  })

  describe.skipIf(!hasNodes)('with controllers, a scheduler and two nodes', () => {
    beforeAll(async () => {
      for (const name of ['node-a', 'node-b'])
        await cluster.addNode(name, { tier: 'h100', annotations: { 'kwok.x-k8s.io/node': 'fake' } })
    })

    const state = async ({ instanceId }: LaunchOrder) => (await driver.observe(instanceId)).state

    test('an instance lives from its launch to its end, and nothing of it is left', async () => {
      const launched = order({ hubToken: 'hf_secret' })
      const beganAtMs = performance.now()
      await driver.launch(launched)
      expect(await state(launched)).toMatch(/pending|loading/)
      await vi.waitFor(async () => expect(await state(launched)).toBe('ready'), WAIT)
      const readyMs = performance.now() - beganAtMs
      expect((await driver.observe(launched.instanceId)).boundAtMs).toBeGreaterThan(Date.now() - 600_000)
      await driver.stop(launched.instanceId)
      await vi.waitFor(async () => expect(await state(launched)).toBe('gone'), WAIT)
      process.stderr.write(`ready after ${Math.round(readyMs)} ms\n`)
      const { items } = await cluster.admin.list('/api/v1/namespaces/parkway/pods', '')
      expect(items.filter((pod) => JSON.stringify(pod).includes(launched.instanceId))).toEqual([])
    })

    test('a third instance finds no machine, and one that nobody knows is swept', async () => {
      const orders = [order(), order(), order()]
      for (const one of orders) await driver.launch(one)
      await vi.waitFor(async () => {
        const states = await Promise.all(orders.map(state))
        expect(states.toSorted((left, right) => left.localeCompare(right))).toEqual([
          'failed',
          'ready',
          'ready',
        ])
      }, WAIT)
      const seen = await Promise.all(orders.map(({ instanceId }) => driver.observe(instanceId)))
      expect(seen.find(({ failure }) => failure !== null)?.failure?.code).toBe('capacity_exhausted')
      const [known] = orders
      const swept = await driver.sweep(async () => new Set(known ? [known.instanceId] : []))
      expect(swept).toEqual(expect.arrayContaining(orders.slice(1).map(({ instanceId }) => instanceId)))
      await vi.waitFor(async () => {
        expect(await Promise.all(orders.slice(1).map(state))).toEqual(['gone', 'gone'])
      }, WAIT)
      if (known) await driver.stop(known.instanceId)
    })
  })

  test.skipIf(!programs.binaries['helm'])('accepts every object of the chart', async () => {
    const words = [
      'template',
      'parkway',
      join(DEPLOY, 'helm/parkway'),
      '--namespace',
      'parkway',
      // A helm that was built from its module believes in an old version.
      '--kube-version',
      KUBERNETES,
      '--set',
      'engines.enabled=true,podDisruptionBudget.enabled=true,secretSettings.A=b',
    ]
    const { stdout, stderr } = spawnSync(programs.binaries['helm'] ?? '', words, { encoding: 'utf8' })
    expect(stderr).toBe('')
    const objects = parseAllDocuments(stdout)
      .map((document) => document.toJS())
      .filter(Boolean)
    expect(objects.length).toBeGreaterThan(5)
    for (const object of objects) {
      const { status, body } = await dryRun(`${pathOf(object)}/${object.metadata.name}`, object)
      expect([object.kind, status, read(body, 'message')]).toEqual([
        object.kind,
        expect.toSatisfy(isSuccess),
        undefined,
      ])
    }
  })
})

const APPLY = 'application/apply-patch+yaml'
const WAIT = { timeout: 90_000, interval: 200 }
const isSuccess = (status: number) => status === 200 || status === 201
