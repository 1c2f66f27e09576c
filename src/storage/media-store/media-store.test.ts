import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import { createFilesystemStore } from './filesystem-store.ts'
import type { MediaStore } from './media-store.ts'
import { createS3Store } from './s3-store.ts'
import { startS3Server, type S3Server } from './testing/s3-server.ts'
import { removeDirectory } from '../../../tests/support/remove-directory.ts'

let directory: string
let server: S3Server
const stores: Record<string, MediaStore> = {}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parkway-media-'))
  server = await startS3Server()
  stores['filesystem'] = createFilesystemStore({ directory })
  stores['s3'] = createS3Store({ url: server.storeUrl, credentials: server.credentials })
})

afterAll(async () => {
  for (const store of Object.values(stores)) await store.close()
  await server.close()
  await removeDirectory(directory)
})

describe.each(['filesystem', 's3'])('the %s store', (name) => {
  const store = (): MediaStore => stores[name] ?? expect.unreachable()

  it('returns stored files unchanged', async () => {
    const key = createId()
    expect(
      await store().put(key, chunksOf(Buffer.from('hello '), Buffer.from('world')), 'text/plain'),
    ).toEqual({
      bytes: 11,
    })
    expect(await store().exists(key)).toBe(true)
    expect(String(await readAll(await store().open(key)))).toBe('hello world')
  })

  it('returns a part', async () => {
    const key = createId()
    await store().put(key, chunksOf(Buffer.from('0123456789')), 'text/plain')
    expect(String(await readAll(await store().open(key, { start: 2, end: 5 })))).toBe('2345')
    expect(String(await readAll(await store().open(key, { start: 9, end: 9 })))).toBe('9')
  })

  it('stores an empty file', async () => {
    const key = createId()
    expect(await store().put(key, chunksOf(), 'text/plain')).toEqual({ bytes: 0 })
    expect(await store().exists(key)).toBe(true)
  })

  it('stores a file of many megabytes, byte for byte', async () => {
    const key = createId()
    const chunk = randomBytes(1_000_003)
    const all = Buffer.concat(Array.from({ length: 20 }, () => chunk))
    const stored = await store().put(key, chunksOf(...Array.from({ length: 20 }, () => chunk)), 'video/mp4')
    expect(stored.bytes).toBe(all.length)
    expect((await readAll(await store().open(key))).equals(all)).toBe(true)
    const range = { start: 8_388_600, end: 8_388_620 }
    expect((await readAll(await store().open(key, range))).equals(all.subarray(8_388_600, 8_388_621))).toBe(
      true,
    )
  })

  it.each([0, 9_000_000])('stores nothing of a source that fails after %d bytes', async (bytes) => {
    const key = createId()
    const failing = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(bytes)
      throw new Error('the source broke')
    }
    await expect(store().put(key, failing(), 'video/mp4')).rejects.toThrow('the source broke')
    expect(await store().exists(key)).toBe(false)
    expect(await store().open(key)).toBeNull()
  })

  it('deletes a file, and deleting it again is not an error', async () => {
    const key = createId()
    await store().put(key, chunksOf(Buffer.from('x')), 'text/plain')
    await store().delete(key)
    await store().delete(key)
    expect(await store().exists(key)).toBe(false)
    expect(await store().open(key)).toBeNull()
  })

  it.each(['../../etc/passwd', 'a/b', '', '..', 'A0000000-0000-7000-8000-00000000000G', '/etc/passwd'])(
    'refuses a key like %j',
    async (key) => {
      await expect(store().put(key, chunksOf(), 'text/plain')).rejects.toThrow('must be a UUID')
      await expect(store().open(key)).rejects.toThrow('must be a UUID')
      await expect(store().delete(key)).rejects.toThrow('must be a UUID')
    },
  )
})

it('the filesystem store deletes partial files of a dead process', async () => {
  const incoming = join(directory, 'incoming')
  await mkdir(incoming, { recursive: true })
  await writeFile(join(incoming, 'old'), 'half')
  await writeFile(join(incoming, 'new'), 'half')
  const before = new Date(Date.now() - 60_000)
  await utimes(join(incoming, 'old'), new Date(0), new Date(0))
  await stores['filesystem']?.removeUnfinished(before)
  expect(await readdir(incoming)).toEqual(['new'])
})

it('files that are stored together share a directory, which is deleted with the last one', async () => {
  const own = join(directory, 'own')
  const store = createFilesystemStore({ directory: own })
  const keys = Array.from({ length: 20 }, () => createId(1_760_000_000_000))
  await Promise.all(keys.map((key) => store.put(key, chunksOf(Buffer.from(key)), 'text/plain')))
  expect((await readdir(own)).filter((name) => name !== 'incoming')).toHaveLength(1)
  await Promise.all(keys.map((key) => store.delete(key)))
  expect(await readdir(own)).toEqual(['incoming'])
  const again = createId(1_760_000_000_000)
  await store.put(again, chunksOf(Buffer.from('again')), 'text/plain')
  expect(await store.exists(again)).toBe(true)
})

it('a directory is not created before there is a file', async () => {
  const unused = join(directory, 'unused')
  const store = createFilesystemStore({ directory: unused })
  await store.removeUnfinished(new Date())
  expect(await store.open(createId())).toBeNull()
  await expect(readdir(unused)).rejects.toThrow('ENOENT')
})

async function* chunksOf(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}

async function readAll(source: Readable | null): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of source ?? expect.unreachable('there is no such file')) chunks.push(chunk)
  return Buffer.concat(chunks)
}
