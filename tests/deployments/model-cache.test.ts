import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createModelCache, type ModelCache } from '../../src/hub/model-cache/model-cache.ts'
import type { ModelFile } from '../../src/hub/model-file.ts'
import { createHub, type Hub } from '../../src/hub/hub.ts'
import { pickFiles } from '../../src/hub/pick-files.ts'
import { createOutbound, type Outbound } from '../../src/outbound/outbound.ts'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { COMMIT, startHub, type HubServer } from '../upstreams/hub-server.ts'

const MODEL = createTinyGguf()
const GIGA = 1_000_000_000

let hub: HubServer
let outbound: Outbound
let reader: Hub
let directory: string
let cache: ModelCache

beforeAll(async () => {
  hub = await startHub({ 'org/tiny': { files: { 'tiny-Q4_K_M.gguf': MODEL, 'config.json': { a: 1 } } } })
  outbound = createOutbound({ allowedHosts: [hub.cdnHost] })
  reader = createHub({ outbound, endpoint: hub.url })
})
afterAll(async () => {
  await outbound.close()
  await hub.close()
})
beforeEach(async () => {
  hub.requests.length = 0
  hub.faults.length = 0
  directory = await mkdtemp(join(tmpdir(), 'parkway-models-'))
  cache = createModelCache({
    outbound,
    endpoint: hub.url,
    directory,
    limits: { bytesMax: GIGA, freeBytesMin: 0, listUsed: null },
  })
  return () => rm(directory, { recursive: true, force: true })
})

async function filesOf(modelId: string): Promise<readonly ModelFile[]> {
  return pickFiles((await reader.listFiles({ modelId })).files, 'auto').files
}

const fetchTiny = async (order: Partial<Parameters<ModelCache['fetch']>[0]> = {}) =>
  cache.fetch({
    modelId: 'org/tiny',
    commit: COMMIT,
    files: await filesOf('org/tiny'),
    token: null,
    ...order,
  })

describe('the model cache', () => {
  test('downloads the files of a model once, with their names, and tells how far it is', async () => {
    const told: number[] = []
    const first = await fetchTiny({ onProgress: ({ bytesDone }) => told.push(bytesDone) })
    expect(first.paths).toEqual([join(first.directory, 'tiny-Q4_K_M.gguf')])
    expect(await readFile(first.paths[0] ?? '')).toEqual(MODEL)
    expect(told.toSorted((one, other) => one - other)).toEqual(told)
    expect(told.at(-1)).toBe(MODEL.length)
    const asked = hub.requests.length
    expect(await fetchTiny()).toEqual(first)
    expect(hub.requests.slice(asked).filter(({ path }) => path.endsWith('.gguf'))).toEqual([])
    expect(await readdir(join(directory, 'claims'))).toEqual([])
  })

  test('goes on where a connection was cut', async () => {
    hub.faults.push({ cutAfter: 100_000 }, { cutAfter: 50_000 })
    const { paths } = await fetchTiny()
    expect(await readFile(paths[0] ?? '')).toEqual(MODEL)
    const ranges = hub.requests.filter(({ host }) => host === hub.cdnHost).map(({ range }) => range)
    expect([ranges.length, ranges[0], ranges[1]?.startsWith('bytes=')]).toEqual([3, null, true])
  })
})
