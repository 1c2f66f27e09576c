import { mkdir, mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createModelCache, type ModelCache } from '../../src/hub/model-cache/model-cache.ts'
import type { ModelFile } from '../../src/hub/model-file.ts'
import { createHub, type Hub } from '../../src/hub/hub.ts'
import { pickFiles } from '../../src/hub/pick-files.ts'
import { Cancellation } from '../../src/kernel/cancellation.ts'
import { eventually } from '../support/eventually.ts'
import { createOutbound, type Outbound } from '../../src/outbound/outbound.ts'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { COMMIT, startHub, type HubServer } from '../upstreams/hub-server.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const MODEL = createTinyGguf()
const GIGA = 1_000_000_000

let hub: HubServer
let outbound: Outbound
let reader: Hub
let directory: string
let cache: ModelCache

beforeAll(async () => {
  hub = await startHub({
    'org/tiny': { files: { 'tiny-Q4_K_M.gguf': MODEL, 'config.json': { a: 1 } } },
    // Has the same directory as `org/tiny`.
    'org--tiny': { files: { 'tiny-Q4_K_M.gguf': createTinyGguf({ seed: 3 }) } },
    'org/used': { files: { 'tiny-Q4_K_M.gguf': createTinyGguf({ seed: 1 }) } },
    'org/third': { files: { 'tiny-Q4_K_M.gguf': createTinyGguf({ seed: 2 }) } },
  })
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
  return () => removeDirectory(directory)
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
  test('downloads the files of a model once, under their names, and reports progress', async () => {
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

  test('resumes after a connection was cut', async () => {
    hub.faults.push({ cutAfter: 100_000 }, { cutAfter: 50_000 })
    const { paths } = await fetchTiny()
    expect(await readFile(paths[0] ?? '')).toEqual(MODEL)
    const ranges = hub.requests.filter(({ host }) => host === hub.cdnHost).map(({ range }) => range)
    expect([ranges.length, ranges[0], ranges[1]?.startsWith('bytes=')]).toEqual([3, null, true])
  })

  test('resumes the partial file of a crashed process, and takes its lock', async () => {
    const [file] = await filesOf('org/tiny')
    const blobs = join(directory, 'models--org--tiny/blobs')
    await mkdir(blobs, { recursive: true })
    const part = join(blobs, String(file?.checksum.hex))
    await writeFile(`${part}.incomplete`, MODEL.subarray(0, 200_000))
    // Larger than any process id.
    await writeFile(`${part}.lock`, JSON.stringify({ id: 'x', pid: 2 ** 30, host: hostname(), since: '1' }))
    const { paths } = await fetchTiny()
    expect(await readFile(paths[0] ?? '')).toEqual(MODEL)
    expect(hub.requests.find(({ host }) => host === hub.cdnHost)?.range).toBe('bytes=200000-')
    expect((await readdir(blobs)).filter((name) => name.includes('.lock'))).toEqual([])
  })

  test('downloads once for concurrent requests', async () => {
    hub.faults.push({ holdAfter: 1_000 })
    const all = Array.from({ length: 8 }, () => fetchTiny())
    await eventually(async () => expect(downloads()).toBe(1))
    hub.release()
    expect(new Set((await Promise.all(all)).map(({ directory: path }) => path)).size).toBe(1)
    expect(downloads()).toBe(1)
  })

  test('lets a waiting request continue the download when the first one is cancelled', async () => {
    hub.faults.push({ holdAfter: 100_000 })
    const cancellation = new Cancellation()
    const first = fetchTiny({ cancellation }).catch((error: unknown) => error)
    await eventually(async () => expect(downloads()).toBe(1))
    const second = fetchTiny()
    cancellation.cancel(new Error('enough'))
    expect(await first).toMatchObject({ message: 'enough' })
    expect(await readFile((await second).paths[0] ?? '')).toEqual(MODEL)
  })

  test.each([
    ['a wrong checksum', [{ body: Buffer.alloc(MODEL.length) }], 'corrupt'],
    ['more bytes than announced', [{ body: Buffer.concat([MODEL, MODEL]) }], 'unreadable'],
    ['another part than asked for', [{ cutAfter: 1_000 }, { shiftsRange: true }], 'unreadable'],
    ['a gate', [{ status: 403 }], 'gated'],
    ['a file that is gone', [{ status: 404 }], 'missing'],
  ])('fails clearly for %s, and leaves no file with that name', async (_, faults, failure) => {
    hub.faults.push(...faults)
    await expect(fetchTiny()).rejects.toMatchObject({ name: 'HubError', failure })
    const blobs = await readdir(join(directory, 'models--org--tiny/blobs'))
    expect(blobs.filter((name) => !name.endsWith('.incomplete'))).toEqual([])
    expect((await fetchTiny()).paths).toHaveLength(1)
  })

  test('starts again from the beginning if the hub ignores ranges, and waits for retry-after', async () => {
    hub.faults.push(
      { cutAfter: 1_000 },
      { ignoresRange: true, cutAfter: 2_000 },
      { status: 429, retryAfter: '0' },
    )
    const { paths } = await fetchTiny()
    expect([downloads(), await readFile(paths[0] ?? '')]).toEqual([4, MODEL])
  })

  test('sends its token only to the hub, and does not follow redirects into a private network', async () => {
    await fetchTiny({ token: 'hf_secret' })
    const told = hub.requests.filter(({ authorization }) => authorization === 'Bearer hf_secret')
    expect(told.filter(({ host }) => host === hub.cdnHost)).toEqual([])
    await removeDirectory(directory)
    hub.redirectTo('http://127.0.0.1:1')
    await expect(fetchTiny()).rejects.toMatchObject({ failure: 'unreadable' })
    hub.redirectTo(null)
  })

  test('does not follow symbolic links in the cache', async () => {
    const outside = join(directory, 'outside')
    const [file] = await filesOf('org/tiny')
    const blobs = join(directory, 'models--org--tiny/blobs')
    await mkdir(blobs, { recursive: true })
    await writeFile(outside, Buffer.alloc(MODEL.length))
    await symlink(outside, join(blobs, String(file?.checksum.hex)))
    await symlink(outside, join(blobs, `${file?.checksum.hex}.incomplete`))
    const { paths } = await fetchTiny()
    expect([await readFile(paths[0] ?? ''), await readFile(outside)]).toEqual([
      MODEL,
      Buffer.alloc(MODEL.length),
    ])
    await removeDirectory(join(directory, 'models--org--tiny'))
    await mkdir(join(directory, 'elsewhere'))
    await symlink(join(directory, 'elsewhere'), join(directory, 'models--org--tiny'))
    await expect(fetchTiny()).rejects.toThrow('not a directory')
  })

  test.each(['../x', 'a/../../x', '/etc/passwd', 'a\0b', 'a\\b', ''])(
    'refuses the file name %j',
    async (path) => {
      const [file] = await filesOf('org/tiny')
      if (file === undefined) throw new Error('no file')
      await expect(fetchTiny({ files: [{ ...file, path }] })).rejects.toMatchObject({ failure: 'unreadable' })
      await expect(fetchTiny({ modelId: `../${path}` })).rejects.toMatchObject({ failure: 'unreadable' })
    },
  )

  test('deletes only models that no deployment uses, least recently used first', async () => {
    const used = new Set(['org/used'])
    const limited = createModelCache({
      outbound,
      endpoint: hub.url,
      directory,
      limits: {
        bytesMax: 2.5 * MODEL.length,
        freeBytesMin: 0,
        listUsed: async (models) => models.filter(({ modelId }) => used.has(modelId)),
      },
    })
    const fetch = async (modelId: string) =>
      limited.fetch({ modelId, commit: COMMIT, files: await filesOf(modelId), token: null })
    await fetch('org/used')
    await fetch('org/tiny')
    await fetch('org/third')
    const kept = (await readdir(join(directory, 'models--org--tiny/blobs'))).length
    expect([kept, (await fetch('org/used')).paths.length]).toEqual([0, 1])
    used.add('org/third')
    await expect(fetch('org/tiny')).rejects.toMatchObject({ failure: 'no_space' })
    const small = createModelCache({
      outbound,
      endpoint: hub.url,
      directory,
      limits: { bytesMax: 1_000, freeBytesMin: 0, listUsed: null },
    })
    const order = { modelId: 'org/tiny', commit: COMMIT, files: await filesOf('org/tiny'), token: null }
    await expect(small.fetch(order)).rejects.toMatchObject({ failure: 'too_large' })
  })

  test('fails clearly if the disk is full, leaves nothing behind and gives its room back', async () => {
    // All file handles share this prototype.
    const handle = await open(join(directory, 'probe'), 'w')
    const prototype: Pick<typeof handle, 'write'> = Object.getPrototypeOf(handle)
    await handle.close()
    await rm(join(directory, 'probe'))
    let writes = 0
    const write = vi.spyOn(prototype, 'write').mockImplementation(async (...args: unknown[]) => {
      writes += 1
      if (writes > 2) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
      return { bytesWritten: Number(args[2]), buffer: '' }
    })
    onTestFinished(() => write.mockRestore())
    hub.faults.push({ cutAfter: 100_000 })
    await expect(fetchTiny()).rejects.toMatchObject({
      name: 'HubError',
      failure: 'no_space',
      message: 'The disk of the model cache is full.',
    })
    expect(writes).toBeGreaterThan(2)
    const blobs = join(directory, 'models--org--tiny/blobs')
    expect([await readdir(blobs), await readdir(join(directory, 'claims'))]).toEqual([[], []])
    const files = await filesOf('org/tiny')
    expect((await cache.measure({ modelId: 'org/tiny', commit: COMMIT, files })).bytesDone).toBe(0)
    write.mockRestore()
    expect(await readFile((await fetchTiny()).paths[0] ?? '')).toEqual(MODEL)
  })

  test('deletes nothing in a directory that another id with the same directory is downloading into', async () => {
    const limits = { bytesMax: 2.5 * MODEL.length, freeBytesMin: 0, listUsed: async () => [] }
    const limited = createModelCache({ outbound, endpoint: hub.url, directory, limits })
    const fetch = async (modelId: string) =>
      limited.fetch({ modelId, commit: COMMIT, files: await filesOf(modelId), token: null })
    await fetch('org--tiny')
    hub.requests.length = 0
    hub.faults.push({ holdAfter: 100_000 })
    const running = fetch('org/tiny')
    await eventually(async () => expect(downloads()).toBe(1))
    await expect(fetch('org/third')).rejects.toMatchObject({ failure: 'no_space' })
    hub.release()
    expect(await readFile((await running).paths[0] ?? '')).toEqual(MODEL)
  })
})

const downloads = () => hub.requests.filter(({ host }) => host === hub.cdnHost).length
