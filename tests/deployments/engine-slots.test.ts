import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { deploy } from './deploy.ts'
import { createModelsDirectory } from './llama-stage.ts'
import { SCRIPTED } from './local-stage.ts'

const START_MS_MAX = 120_000
const PARALLEL = 2

let models: Awaited<ReturnType<typeof createModelsDirectory>>
let gateway: TestGateway
beforeAll(async () => {
  models = await createModelsDirectory({ 'acme/tiny/tiny.gguf': createTinyGguf() })
  gateway = await startTestGateway({
    settings: {
      PARKWAY_GPU_DRIVER: 'local',
      PARKWAY_LOCAL_GPU: JSON.stringify({
        ...SCRIPTED,
        models_dir: models.directory,
        llama_cpp: { parallel: PARALLEL, threads: 1 },
        tiers: { scripted: {}, llama: { command: [] } },
      }),
      PARKWAY_GPU_DRAIN_MS: '1000',
    },
  })
})
afterAll(async () => {
  await gateway.close()
  await models.remove()
})

const modelOf = async (id: string) => {
  const { body } = await gateway.request('GET', '/v1/queue/status')
  return body.models.find(({ model }: { model: string }) => model === `byom-${id}`)
}

/** A grammar that allows only long answers. */
const ENDLESS = {
  type: 'json_schema',
  json_schema: {
    name: 'endless',
    schema: { type: 'array', items: { const: 'abcdefghijklmnopqrstuvwxyz' }, minItems: 500 },
  },
}

test('a deployment gets as many requests at once as its engine processes, and the others wait in the gateway', async () => {
  const scripted = await deploy(gateway, { gpu_tier: 'scripted', huggingface_id: 'acme/tiny' })
  const id = await deploy(gateway, { gpu_tier: 'llama', huggingface_id: 'acme/tiny' })
  expect([(await modelOf(scripted)).slots, (await modelOf(id)).slots]).toEqual([64, PARALLEL])
  await vi.waitFor(async () => expect((await modelOf(id)).ready).toBe(true), { timeout: START_MS_MAX })
  const leaving = new AbortController()
  const asked = Array.from({ length: PARALLEL + 1 }, () =>
    gateway
      .request('POST', '/v1/chat/completions', {
        body: {
          model: `byom-${id}`,
          messages: [{ role: 'user', content: 'Hello!' }],
          response_format: ENDLESS,
        },
        signal: leaving.signal,
      })
      .catch(() => 'left'),
  )
  await eventually(async () => expect(await modelOf(id)).toMatchObject({ in_use: PARALLEL, queued: 1 }))
  leaving.abort()
  expect(await Promise.all(asked)).toEqual(Array(PARALLEL + 1).fill('left'))
  for (const deployment of [scripted, id]) await gateway.request('DELETE', `/v1/deployments/${deployment}`)
  await eventually(async () => {
    const { body } = await gateway.request('GET', '/v1/gpu-tiers/live')
    expect(body.tiers).toMatchObject([{ available: true }, { available: true }])
  })
})
