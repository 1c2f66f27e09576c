import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chatWith, deploy, waitForStatus } from '../deployments/deploy.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { LLAMA_FILES } from './llama-files.ts'
import { startHub, type HubServer } from '../upstreams/hub-server.ts'
import { createKubernetesStage, TWO_MACHINES, type KubernetesStage } from './kubernetes-stage.ts'

let stage: KubernetesStage
let gateway: TestGateway
let hub: HubServer
let pace: NodeJS.Timeout

beforeAll(async () => {
  stage = await createKubernetesStage()
  hub = await startHub({ 'Qwen/Qwen3-8B': { files: LLAMA_FILES } })
  const { cluster, kubeconfig } = stage
  pace = setInterval(() => cluster.nodes.tick(), 20)
  // Like the address of `kubectl proxy`, which also adds credentials.
  const endpoint = `${cluster.url}/api/v1/namespaces/{namespace}/services/{name}:{port}/proxy/v1`
  gateway = await startTestGateway({
    settings: {
      PARKWAY_GPU_DRIVER: 'kubernetes',
      PARKWAY_KUBERNETES_GPU: JSON.stringify({ ...TWO_MACHINES, endpoint }),
      KUBECONFIG: kubeconfig,
      HF_ENDPOINT: hub.url,
      PARKWAY_OUTBOUND_ALLOW: hub.cdnHost,
      PARKWAY_GPU_DRAIN_MS: '1000',
    },
  })
})
afterAll(async () => {
  clearInterval(pace)
  await gateway.close()
  await stage.close()
  await hub.close()
})

const ORDER = { gpu_tier: 'h100_80gb', huggingface_id: 'Qwen/Qwen3-8B' }

describe('a deployment in a cluster', () => {
  test('is created, answers, and leaves no pod, Service or Secret after a stop', async () => {
    const { store } = stage.cluster
    const id = await deploy(gateway, ORDER)
    await waitForStatus(gateway, id, 'running')
    const { status, body, headers } = await chatWith(gateway, id)
    expect([status, body.model]).toEqual([200, `byom-${id}`])
    expect(body.choices[0].message.content).toBe('Qwen/Qwen3-8B of parkway- says hello')
    expect(headers.get('x-gateway-provider')).toBe('kubernetes')
    await gateway.request('POST', `/v1/deployments/${id}/stop`)
    await waitForStatus(gateway, id, 'stopped')
    for (const collection of ['pods', 'services', 'secrets']) expect(store.list(collection)).toEqual([])
    const { body: bill } = await gateway.request('GET', `/v1/deployments/${id}/billing`)
    expect(bill.billed_seconds).toBeGreaterThan(0)
  })

  test.each([
    ['model_gated', 'gated'],
    ['model_unsupported', 'does not support'],
    ['out_of_memory', 'memory'],
  ])('has the status error at once if a retry cannot succeed: %s', async (code, said) => {
    const id = await deploy(gateway, { ...ORDER, env: { SANDBOX_FAILURE: code } })
    const failed = await waitForStatus(gateway, id, 'error')
    expect([failed.error_code, failed.error_message]).toEqual([code, expect.stringContaining(said)])
    await eventually(() => expect(stage.cluster.store.list('pods')).toEqual([]))
  })

  test.each(['image_pull_failed', 'engine_crashed'])(
    'is retried if a retry may succeed: %s',
    async (code) => {
      const id = await deploy(gateway, { ...ORDER, env: { SANDBOX_FAILURE: code } })
      const waiting = await waitForStatus(gateway, id, 'queued')
      expect(waiting.status_reason ?? code).toBe(code)
      await eventually(async () => {
        const { body } = await gateway.request('GET', `/v1/deployments/${id}/events?limit=100`)
        const retry = body.data.find(({ type }: { type: string }) => type === 'retry')
        expect(retry?.metadata.code).toBe(code)
      })
      await gateway.request('DELETE', `/v1/deployments/${id}`)
    },
  )
})
