import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createKey } from '../clients/create-key.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { googleMediaWire } from '../upstreams/media/google-media-wire.ts'
import { startVendorServer, type VendorServer } from '../upstreams/media/vendor-server.ts'
import { VENDOR_KEY } from '../upstreams/media/vendor-wires.ts'
import { download } from './pictures.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const ENTRY = {
  id: 'imagen-4-ultra',
  name: 'Imagen 4 Ultra',
  vendor: 'Google',
  category: 'image',
  capabilities: ['image_generation'],
  delivery: 'sync',
  price: { unit: 'image', usd: 0.06 },
  bounds: { aspect_ratios: ['1:1', '3:4', '4:3', '9:16', '16:9'] },
  routes: [{ provider: 'google', model: 'imagen-4.0-ultra-generate-001' }],
}

let vendor: VendorServer
let gateway: TestGateway
let directory: string
let key: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parkway-imagen-'))
  const catalogFile = join(directory, 'catalog.json')
  await writeFile(catalogFile, JSON.stringify({ models: [ENTRY] }))
  vendor = await startVendorServer(googleMediaWire)
  gateway = await startTestGateway({
    settings: {
      PARKWAY_CATALOG_FILE: catalogFile,
      GOOGLE_API_KEY: VENDOR_KEY,
      GOOGLE_BASE_URL: `${vendor.origin}/v1beta`,
    },
  })
  key = await createKey(gateway, { name: 'live', env: 'live' })
})

afterAll(async () => {
  await gateway.close()
  await vendor.close()
  await removeDirectory(directory)
})

const ask = (body: object) =>
  gateway.request('POST', '/v1/images/generations', { key, body: { model: ENTRY.id, ...body } })

describe('an Imagen model of the operator', () => {
  test('makes the requested images, at the price of the entry', async () => {
    const { status, body, headers } = await ask({ prompt: 'A cube', n: 2, aspect_ratio: '16:9' })
    expect([status, headers.get('x-gateway-provider')]).toEqual([200, 'google'])
    expect(body.usage).toMatchObject({ images: 2, cost_usd: 0.12 })
    expect((await download(body.data[1].url)).contentType).toBe('image/png')
    expect(vendor.requests.at(-1)?.path).toBe('/v1beta/models/imagen-4.0-ultra-generate-001:predict')
  })

  test('reports images that its filter holds back, without charge', async () => {
    vendor.phase = 'refused'
    const { status, body, headers } = await ask({ prompt: 'A cube' })
    vendor.phase = 'done'
    expect([status, body.error.code, headers.get('x-gateway-cost-usd')]).toEqual([
      400,
      'prompt_blocked',
      null,
    ])
  })
})
