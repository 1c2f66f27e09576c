import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startHub, type HubServer } from '../upstreams/hub-server.ts'
import { createOther } from './deploy.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const GATED = 'org/gated'
const PATH = encodeURIComponent(GATED)

let hub: HubServer
let directory: string
let database: TestDatabase
let gateway: TestGateway
let otherKey: string
let otherId: string

const start = (accounts: string | null) =>
  startTestGateway({
    settings: {
      HF_ENDPOINT: hub.url,
      HF_TOKEN: 'hf_right',
      PARKWAY_OUTBOUND_ALLOW: hub.cdnHost,
      PARKWAY_MODEL_CACHE_DIR: directory,
      PARKWAY_MODEL_CACHE_FREE_GB: '0',
      PARKWAY_SANDBOX_GPU_START_MS: '100',
      ...(accounts === null ? {} : { PARKWAY_HF_TOKEN_ACCOUNTS: accounts }),
    },
    connectionString: database.connectionString,
  })

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parkway-models-'))
  hub = await startHub({
    [GATED]: { files: { 'tiny-Q4_K_M.gguf': createTinyGguf() }, info: { gated: 'auto' }, token: 'hf_right' },
  })
  database = await createTestDatabase()
  gateway = await start(null)
  otherKey = await createOther(gateway)
  otherId = (await gateway.request('GET', '/v1/tenants/me', { key: otherKey })).body.id
})
afterAll(async () => {
  await gateway.close()
  await hub.close()
  await database.drop()
  await removeDirectory(directory)
})

/** The status of each request that asks the hub for the gated model without a token. */
async function askWithoutToken(at: TestGateway, key?: string): Promise<Record<string, number | boolean>> {
  const given = key === undefined ? {} : { key }
  const body = { huggingface_id: GATED }
  const request = (path: string, order: object) => at.request('POST', path, { body: order, ...given })
  const query = `huggingface_id=${PATH}&gpu_tier=l4_24gb`
  return {
    validate: (await request('/v1/hf/validate', body)).body.valid,
    preview: (await at.request('GET', `/v1/deployments/preview?${query}`, given)).status,
    create: (await request('/v1/deployments', { ...body, gpu_tier: 'l4_24gb' })).status,
    createOnAnyTier: (await request('/v1/deployments', body)).status,
    prefetch: (await request('/v1/deployments/prefetch', body)).status,
  }
}

const SERVED = { validate: true, preview: 200, create: 201, createOnAnyTier: 201, prefetch: 201 }
const REFUSED = { validate: false, preview: 400, create: 400, createOnAnyTier: 400, prefetch: 400 }

describe("the operator's hub token", () => {
  test("serves the operator's own account, and no other one after it", async () => {
    expect(await askWithoutToken(gateway)).toEqual(SERVED)
    await eventually(async () => {
      const { body } = await gateway.request('GET', `/v1/deployments/prefetch/${PATH}`)
      expect(body.status).toBe('complete')
    })
    hub.requests.length = 0
    expect(await askWithoutToken(gateway, otherKey)).toEqual(REFUSED)
    const sent = new Set(hub.requests.map(({ authorization }) => authorization))
    expect([...sent]).toEqual([null])
  })

  test('serves the accounts that the operator names, and only them', async () => {
    const named = await start(otherId)
    try {
      expect(await askWithoutToken(named, otherKey)).toEqual(SERVED)
      expect(await askWithoutToken(named)).toEqual(REFUSED)
    } finally {
      await named.close()
    }
  })

  test('serves all accounts if the operator says so', async () => {
    const open = await start('*')
    try {
      expect((await askWithoutToken(open, otherKey))['validate']).toBe(true)
    } finally {
      await open.close()
    }
  })
})
