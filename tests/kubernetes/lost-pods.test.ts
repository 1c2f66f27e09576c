import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { deploy, readEvents, waitForStatus } from '../deployments/deploy.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { read } from '../upstreams/cluster/cluster-store.ts'
import { startHub, type HubServer } from '../upstreams/hub-server.ts'
import { LLAMA_FILES } from './llama-files.ts'
import { createKubernetesStage, TWO_MACHINES, type KubernetesStage } from './kubernetes-stage.ts'

/** Longer than a start takes on a loaded machine. */
const START_MS_MAX = 8_000
const ORDER = { gpu_tier: 'h100_80gb', huggingface_id: 'Qwen/Qwen3-8B' }

let stage: KubernetesStage
let gateway: TestGateway
let hub: HubServer
let pace: NodeJS.Timeout

beforeAll(async () => {
  stage = await createKubernetesStage()
  hub = await startHub({ 'Qwen/Qwen3-8B': { files: LLAMA_FILES } })
  const { cluster, kubeconfig } = stage
  pace = setInterval(() => cluster.nodes.tick(), 20)
  const endpoint = `${cluster.url}/api/v1/namespaces/{namespace}/services/{name}:{port}/proxy/v1`
  gateway = await startTestGateway({
    settings: {
      PARKWAY_GPU_DRIVER: 'kubernetes',
      PARKWAY_KUBERNETES_GPU: JSON.stringify({ ...TWO_MACHINES, schedule_timeout_ms: 600_000, endpoint }),
      KUBECONFIG: kubeconfig,
      HF_ENDPOINT: hub.url,
      PARKWAY_OUTBOUND_ALLOW: hub.cdnHost,
      PARKWAY_GPU_START_TIMEOUT_MS: String(START_MS_MAX),
      PARKWAY_GPU_DRAIN_MS: '1000',
      PARKWAY_GPU_SLICE_SECONDS: '1',
    },
  })
})
afterAll(async () => {
  clearInterval(pace)
  await gateway.close()
  await stage.close()
  await hub.close()
})
afterEach(() => {
  stage.cluster.nodes.isCordoned = false
  stage.cluster.nodes.isStuck = false
})

const livePod = () =>
  String(
    read(
      stage.cluster.store.list('pods').find((pod) => read(pod, 'status', 'phase') === 'Running'),
      'metadata',
      'name',
    ),
  )
const billOf = async (id: string) => (await gateway.request('GET', `/v1/deployments/${id}/billing`)).body
const typesOf = async (id: string) => (await readEvents(gateway, id)).map(({ type }) => type)

async function startAndBill(): Promise<string> {
  const id = await deploy(gateway, ORDER)
  await waitForStatus(gateway, id, 'running')
  await eventually(async () => expect((await billOf(id)).billed_seconds).toBeGreaterThan(0))
  return id
}

describe('a deployment whose pod is lost', () => {
  test('is not ready and not billed while the replacement waits for a machine, and runs again afterwards', async () => {
    const id = await startAndBill()
    stage.cluster.nodes.isCordoned = true
    stage.cluster.nodes.evict(livePod())
    await waitForStatus(gateway, id, 'starting')
    const { accrued_usd: accrued, burn_rate_usd_per_hour: rate } = await billOf(id)
    expect(rate).toBe(0)
    // Two slices later nothing has been added.
    await eventually(async () => {
      const [event] = (
        await gateway.request('GET', `/v1/deployments/${id}/events?limit=100`)
      ).body.data.filter(({ type }: { type: string }) => type === 'interrupted')
      expect(Date.now() - Date.parse(event.created_at)).toBeGreaterThan(2_000)
    })
    expect((await billOf(id)).accrued_usd).toBe(accrued)
    stage.cluster.nodes.isCordoned = false
    await waitForStatus(gateway, id, 'running')
    expect((await typesOf(id)).slice(-2)).toEqual(['interrupted', 'running'])
    await gateway.request('DELETE', `/v1/deployments/${id}`)
  })

  test('fails after the start limit if the replacement does not start', async () => {
    const id = await startAndBill()
    stage.cluster.nodes.isStuck = true
    stage.cluster.nodes.evict(livePod())
    await eventually(async () => {
      const { body } = await gateway.request('GET', `/v1/deployments/${id}/events?limit=100`)
      const retry = body.data.find(({ type }: { type: string }) => type === 'retry')
      expect(retry?.metadata.code).toBe('start_timeout')
    })
    await gateway.request('DELETE', `/v1/deployments/${id}`)
  })
})
