import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { eventually } from '../support/eventually.ts'
import { createTestDatabase } from '../../src/storage/testing/test-database.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { COMMIT, startHub, type HubServer } from '../upstreams/hub-server.ts'
import { createOther, startGpuGateway } from './deploy.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const MODEL = createTinyGguf()
const files = { 'tiny-Q4_K_M.gguf': MODEL }
const PLENTY = ['org/a', 'org/b', 'org/c', 'org/d']

let hub: HubServer
let gateway: TestGateway
let directory: string
let settings: Record<string, string>

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parkway-models-'))
  hub = await startHub({
    'org/tiny': { files },
    'org/again': { files },
    'org/untouched': { files },
    'org/slow': { files: { 'a-Q4_0.gguf': createTinyGguf({ seed: 9 }) } },
    'org/left': { files: { 'a-Q4_0.gguf': createTinyGguf({ seed: 10 }) } },
    'org/wrong': { files, lies: { 'tiny-Q4_K_M.gguf': { sha256: 'b'.repeat(64) } } },
    'org/huge': { files, lies: { 'tiny-Q4_K_M.gguf': { size: 3_000_000_000_000 } } },
    'org/pickled': { files: { 'pytorch_model.bin': Buffer.alloc(10) } },
    'org/gated': { files, info: { gated: 'auto' }, token: 'hf_right' },
    ...Object.fromEntries(
      PLENTY.map((id, seed) => [id, { files: { 'a-Q4_0.gguf': createTinyGguf({ seed: 20 + seed }) } }]),
    ),
  })
  settings = {
    HF_ENDPOINT: hub.url,
    PARKWAY_OUTBOUND_ALLOW: hub.cdnHost,
    PARKWAY_MODEL_CACHE_DIR: directory,
    PARKWAY_MODEL_CACHE_FREE_GB: '0',
  }
  gateway = await startGpuGateway(settings)
})
afterAll(async () => {
  await gateway.close()
  await hub.close()
  await removeDirectory(directory)
})
beforeEach(() => {
  hub.faults.length = 0
})

const order = (body: object, key?: string) =>
  gateway.request('POST', '/v1/deployments/prefetch', { body, ...(key === undefined ? {} : { key }) })
const pathOf = (id: string) => `/v1/deployments/prefetch/${encodeURIComponent(id)}`
const read = async (id: string, key?: string) =>
  (await gateway.request('GET', pathOf(id), key === undefined ? {} : { key })).body
const previewCache = async (id: string) => {
  const query = new URLSearchParams({ huggingface_id: id, gpu_tier: 'l4_24gb' })
  const { body } = await gateway.request('GET', `/v1/deployments/preview?${query.toString()}`)
  return [body.is_cached, body.cache_status]
}
const cancel = (id: string) => gateway.request('POST', `${pathOf(id)}/cancel`)
const waitFor = (id: string, status: string) =>
  eventually(async () => {
    const body = await read(id)
    expect(body.status).toBe(status)
    return body
  })
/** The header is read first, when the order is checked; the download comes after it. */
const holdDownload = () => hub.faults.push({}, { holdAfter: 100_000 })

describe('a prefetch', () => {
  test('downloads the files of a model into the cache, and shows its progress', async () => {
    expect(await previewCache('org/untouched')).toEqual([false, 'none'])
    holdDownload()
    const { status, body } = await order({ huggingface_id: 'org/tiny' })
    expect([status, body]).toMatchObject([
      201,
      { huggingface_id: 'org/tiny', status: 'downloading', size_bytes: MODEL.length, revision: COMMIT },
    ])
    await eventually(async () => expect((await read('org/tiny')).progress).toBeGreaterThan(10))
    expect(await previewCache('org/tiny')).toEqual([false, 'partial'])
    expect((await read('org/tiny')).progress).toBeLessThan(100)
    hub.release()
    expect(await waitFor('org/tiny', 'complete')).toMatchObject({ progress: 100, size_bytes: MODEL.length })
    expect(await previewCache('org/tiny')).toEqual([true, 'complete'])
    const path = join(directory, 'models--org--tiny/snapshots', COMMIT, 'tiny-Q4_K_M.gguf')
    expect(await readFile(path)).toEqual(MODEL)
    // The slash need not be encoded.
    const { body: plain } = await gateway.request('GET', '/v1/deployments/prefetch/org/tiny')
    expect(plain.status).toBe('complete')
    await removeDirectory(join(directory, 'models--org--tiny'))
    expect((await read('org/tiny')).status).toBe('not_found')
  })

  test('can be cancelled, and resumes where it stopped when it is requested again', async () => {
    holdDownload()
    await order({ huggingface_id: 'org/slow' })
    await eventually(async () => expect((await read('org/slow')).downloaded_bytes).toBe(100_000))
    expect((await cancel('org/slow')).body.status).toBe('cancelled')
    // The downloading process releases its lock when it notices the cancellation.
    const blobs = join(directory, 'models--org--slow/blobs')
    await eventually(async () =>
      expect((await readdir(blobs)).filter((name) => name.endsWith('.lock'))).toEqual([]),
    )
    expect((await read('org/slow')).status).toBe('cancelled')
    hub.requests.length = 0
    await order({ huggingface_id: 'org/slow' })
    await waitFor('org/slow', 'complete')
    expect(
      hub.requests.filter(({ host, range }) => host === hub.cdnHost && range === 'bytes=100000-'),
    ).toHaveLength(1)
    expect((await cancel('org/slow')).body.status).toBe('complete')
  })

  test('fails with the reason, and deletes a file with a wrong checksum', async () => {
    await order({ huggingface_id: 'org/wrong' })
    const { error_message: message } = await waitFor('org/wrong', 'failed')
    expect(message).toContain('checksum')
    expect(await readdir(join(directory, 'models--org--wrong/blobs'))).toEqual([])
  })

  test.each([
    [{ huggingface_id: 'org/nowhere' }, 'huggingface_id', /no such/],
    [{ huggingface_id: 'org/pickled' }, 'huggingface_id', /pickled/],
    [{ huggingface_id: 'org/huge' }, 'huggingface_id', /GB/],
    [{ huggingface_id: 'org/gated' }, 'hf_token', /token/],
    [{ huggingface_id: '../../etc' }, 'huggingface_id', /id of a model/],
    [{ huggingface_id: 'org/tiny', revision: '../x' }, 'revision', /revision/],
    [{}, 'huggingface_id', /huggingface_id/],
  ])('is refused: %j', async (body, param, reason) => {
    const { status, body: answer } = await order(body)
    expect([status, answer.error.param]).toEqual([400, param])
    expect(answer.error.message).toMatch(reason)
  })

  test('a prefetch of a gated model needs a token, even if another account has downloaded the files', async () => {
    expect((await order({ huggingface_id: 'org/gated', hf_token: 'hf_right' })).status).toBe(201)
    await waitFor('org/gated', 'complete')
    const other = await createOther(gateway)
    expect((await order({ huggingface_id: 'org/gated' }, other)).status).toBe(400)
    expect((await read('org/gated', other)).status).toBe('not_found')
  })

  test('cannot be seen or cancelled by other accounts', async () => {
    holdDownload()
    await order({ huggingface_id: 'org/again' })
    await eventually(async () => expect((await read('org/again')).downloaded_bytes).toBe(100_000))
    const other = await createOther(gateway)
    expect(await read('org/again', other)).toMatchObject({ status: 'not_found', size_bytes: null })
    await gateway.request('POST', `${pathOf('org/again')}/cancel`, { key: other })
    expect((await read('org/again')).status).toBe('downloading')
    hub.release()
    await waitFor('org/again', 'complete')
  })

  test('is refused for keys that cannot deploy, and for accounts without credit', async () => {
    const { body: restricted } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
      body: { name: 'restricted', env: 'dev', allowed_models: ['gpt-4o-mini'], scopes: ['inference'] },
    })
    expect((await order({ huggingface_id: 'org/tiny' }, restricted.key)).status).toBe(403)
    expect(
      (await gateway.request('POST', `${pathOf('org/tiny')}/cancel`, { key: restricted.key })).status,
    ).toBe(403)
    const poor = await createOther(gateway, 0)
    expect((await order({ huggingface_id: 'org/tiny' }, poor)).status).toBe(402)
    expect((await gateway.request('GET', pathOf('org/tiny'), { key: null })).status).toBe(401)
  })

  test('is refused if three others of the account are running', async () => {
    // The processes download two at a time; the third waits.
    const statuses: number[] = []
    for (const id of PLENTY) {
      hub.faults.length = 0
      hub.faults.push({}, { holdAfter: 10 })
      statuses.push((await order({ huggingface_id: id })).status)
      if (statuses.length <= 2)
        await eventually(async () => expect((await read(id)).downloaded_bytes).toBeGreaterThan(0))
    }
    expect(statuses).toEqual([201, 201, 201, 429])
    for (const id of PLENTY) await cancel(id)
    hub.faults.length = 0
    hub.release()
  })

  test('is resumed by another process when its process stops', async () => {
    const database = await createTestDatabase()
    const options = { settings, connectionString: database.connectionString }
    const first = await startTestGateway(options)
    holdDownload()
    await first.request('POST', '/v1/deployments/prefetch', { body: { huggingface_id: 'org/left' } })
    await eventually(async () => {
      const { body } = await first.request('GET', pathOf('org/left'))
      expect(body.downloaded_bytes).toBe(100_000)
    })
    await first.close()
    const second = await startTestGateway(options)
    try {
      await eventually(async () => {
        const { body } = await second.request('GET', pathOf('org/left'))
        expect(body.status).toBe('complete')
      })
    } finally {
      hub.release()
      await second.close()
      await database.drop()
    }
  })
})
