import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { wholeAccount } from '../../storage/place.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { KeepOrder } from './media.ts'
import { openMediaStage, type MediaStage } from './testing/media-stage.ts'
import { sampleFile } from './testing/sample-files.ts'

const HOUR_MS = 60 * 60_000

let stage: MediaStage
let nowMs: number

beforeEach(async () => {
  nowMs = Date.now()
  stage = await openMediaStage({ nowMs: () => nowMs })
})

afterEach(async () => {
  await stage.close()
})

const keep = (order: Partial<KeepOrder> & Pick<KeepOrder, 'source'>) =>
  stage.media.keep({ place: wholeAccount(stage.accountId), purpose: 'result', kind: 'image', ...order })

describe('storing', () => {
  it('a file can be read by its account and by no other', async () => {
    const bytes = sampleFile('png')
    const file = await keep({ source: bytes })
    expect(file).toMatchObject({ contentType: 'image/png', bytes: bytes.length })
    const read = await stage.media.read(wholeAccount(stage.accountId), file.id)
    expect(Buffer.from(read.bytes).equals(bytes)).toBe(true)
    expect(read.contentType).toBe('image/png')
    for (const [account, id] of [
      [createId(), file.id],
      [stage.accountId, createId()],
      [stage.accountId, 'no id'],
    ] as const)
      await expect(stage.media.read(wholeAccount(account), id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('a file may arrive in chunks of any size', async () => {
    const bytes = sampleFile('mp4', 5_000)
    const file = await keep({ kind: 'video', source: pieces(bytes, 3) })
    const read = await stage.media.read(wholeAccount(stage.accountId), file.id)
    expect(Buffer.from(read.bytes).equals(bytes)).toBe(true)
  })

  it('the type is determined by the bytes, not by the client', async () => {
    const file = await keep({ source: sampleFile('webp'), contentType: 'image/png' })
    expect(file.contentType).toBe('image/webp')
  })

  it('a video container counts as audio if audio is expected', async () => {
    expect((await keep({ kind: 'audio', source: sampleFile('mp4') })).contentType).toBe('audio/mp4')
    expect((await keep({ kind: 'audio', source: sampleFile('webm') })).contentType).toBe('audio/webm')
  })

  it('audio without a header has the type that is stated', async () => {
    const silence = Buffer.alloc(4_000)
    const file = await keep({ kind: 'audio', source: silence, contentType: 'audio/pcm; rate=24000' })
    expect(file.contentType).toBe('audio/pcm')
    await expect(keep({ kind: 'audio', source: silence, contentType: 'audio/mpeg' })).rejects.toMatchObject({
      code: 'provider_error',
    })
  })

  it.each(['html', 'mp3'])(
    'an input that is not an image but %s is refused by name, and nothing is left',
    async (what) => {
      const source = what === 'html' ? Buffer.from('<!doctype html>') : sampleFile('mp3')
      await expect(keep({ purpose: 'input', source, param: 'image' })).rejects.toMatchObject({
        code: 'invalid_value',
        param: 'image',
      })
      expect(await stage.listFiles()).toEqual([])
    },
  )

  it.each([
    ['input', 'request_too_large'],
    ['result', 'provider_error'],
  ] as const)('an %s over its limit leaves nothing', async (purpose, code) => {
    for (const source of [sampleFile('png', 10_001), pieces(sampleFile('png', 20_000), 700)])
      await expect(keep({ purpose, source, bytesMax: 10_000 })).rejects.toMatchObject({ code })
    await keep({ purpose, source: sampleFile('png', 10_000), bytesMax: 10_000 })
    expect(await stage.listFiles()).toHaveLength(1)
    expect(await stage.database.query('SELECT id FROM media')).toHaveLength(1)
  })

  it('a source that breaks leaves nothing', async () => {
    const breaking = async function* (): AsyncGenerator<Uint8Array> {
      yield sampleFile('png')
      throw new Error('the upstream hung up')
    }
    await expect(keep({ source: breaking() })).rejects.toThrow('hung up')
    expect(await stage.listFiles()).toEqual([])
    expect(await stage.database.query('SELECT id FROM media')).toEqual([])
  })

  it('a refused source is closed', async () => {
    let isClosed = false
    const source = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.from('this is text. '.repeat(20))
      } finally {
        isClosed = true
      }
    }
    await expect(keep({ source: source() })).rejects.toMatchObject({ code: 'provider_error' })
    expect(isClosed).toBe(true)
  })
})

describe('addresses', () => {
  const tokenOf = (address: string): string => address.split('/media/')[1] ?? ''

  it('lead to the file, in every process of the database', async () => {
    const file = await keep({ source: sampleFile('png') })
    const another = await stage.openAnother()
    const address = stage.media.addressOf(file)
    expect(address).toMatch(/^http:\/\/gateway\.test\/media\/[\w-]+\.png$/)
    expect(another.addressOf(file)).toBe(address)
    expect(await another.openAddress(tokenOf(address))).toMatchObject({ id: file.id, bytes: 2_000 })
  })

  it("can be made from the id alone, and begin with the reader's host", async () => {
    const { id } = await keep({ source: sampleFile('png') })
    expect(stage.media.addressOf({ id }, 'http://reader.test')).toMatch(
      /^http:\/\/reader\.test\/media\/.+\.png$/,
    )
  })

  it("begin with the operator's URL, whoever reads them", async () => {
    const told = await openMediaStage({ publicUrl: 'https://ai.example/gateway/' })
    const address = told.media.addressOf({ id: createId() }, 'http://reader.test')
    expect(address).toMatch(/^https:\/\/ai\.example\/gateway\/media\/[\w-]+/)
    await told.close()
  })

  it('stay the same for a while, and are valid for at least a day', async () => {
    nowMs = Math.ceil(nowMs / HOUR_MS) * HOUR_MS + 1
    const { id } = await keep({ source: sampleFile('png') })
    const address = stage.media.addressOf({ id })
    nowMs += HOUR_MS / 2
    expect(stage.media.addressOf({ id })).toBe(address)
    nowMs += 23 * HOUR_MS
    await stage.media.openAddress(tokenOf(address))
    nowMs += 2 * HOUR_MS
    await expect(stage.media.openAddress(tokenOf(address))).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('the expiry of a file', () => {
  const expire = (id: string): Promise<unknown> =>
    stage.database.query(`UPDATE media SET expires_at = now() - interval '1 second' WHERE id = $1`, [id])

  it('an expired file is not found at once, and deleted by the next sweep', async () => {
    const [old, young] = [
      await keep({ source: sampleFile('png') }),
      await keep({ source: sampleFile('jpg') }),
    ]
    await expire(old.id)
    await expect(stage.media.read(wholeAccount(stage.accountId), old.id)).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(await stage.media.sweep()).toBe(1)
    expect(await stage.listFiles()).toEqual([young.id])
    expect(await stage.media.sweep()).toBe(0)
  })

  it('inputs are kept for a day, results for thirty', async () => {
    await keep({ purpose: 'input', source: sampleFile('png') })
    await keep({ purpose: 'result', source: sampleFile('png') })
    const rows = await stage.database.query<{ days: number }>(
      `SELECT extract(day FROM expires_at - created_at)::int AS days FROM media ORDER BY purpose`,
    )
    expect(rows.map(({ days }) => days)).toEqual([1, 30])
  })

  it('several processes that sweep at once delete each file once', async () => {
    for (let count = 0; count < 250; count += 1) await keep({ source: sampleFile('png', 20) })
    await stage.database.query(`UPDATE media SET expires_at = now() - interval '1 second'`)
    const sweepers = [stage.media, await stage.openAnother(), await stage.openAnother()]
    const removed = await Promise.all(sweepers.map((media) => media.sweep()))
    expect(removed.reduce((sum, count) => sum + count, 0)).toBe(250)
    expect(await stage.listFiles()).toEqual([])
    expect(await stage.database.query('SELECT id FROM media')).toEqual([])
  })

  it('partial files of a dead process are deleted after a day', async () => {
    const id = createId()
    await stage.database.query(
      `INSERT INTO media (id, account_id, purpose, kind, content_type, store_key, created_at, expires_at)
       VALUES ($1, $2, 'result', 'image', 'image/png', $3, now(), now() + interval '1 day')`,
      [id, stage.accountId, id],
    )
    await stage.store.put(id, pieces(sampleFile('png'), 100), 'image/png')
    await expect(stage.media.read(wholeAccount(stage.accountId), id)).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(await stage.media.sweep()).toBe(0)
    await expire(id)
    expect(await stage.media.sweep()).toBe(1)
    expect(await stage.listFiles()).toEqual([])
  })

  it('a file that one process claimed and did not delete is claimed again later', async () => {
    const { id } = await keep({ source: sampleFile('png') })
    await expire(id)
    await stage.database.query('UPDATE media SET removing_at = now()')
    expect(await stage.media.sweep()).toBe(0)
    await stage.database.query(`UPDATE media SET removing_at = now() - interval '11 minutes'`)
    expect(await stage.media.sweep()).toBe(1)
  })

  it('files are deleted by name at once, and unknown names are not an error', async () => {
    const [one, other] = [
      await keep({ source: sampleFile('png') }),
      await keep({ source: sampleFile('png') }),
    ]
    await stage.media.remove([one.id, createId()])
    expect(await stage.listFiles()).toEqual([other.id])
    await expect(stage.media.read(wholeAccount(stage.accountId), one.id)).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}
