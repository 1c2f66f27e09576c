import { createHash } from 'node:crypto'
import { wholeAccount } from '../../src/storage/place.ts'
import { readdir, readlink } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createId } from '../../src/kernel/identifiers.ts'
import { HEADS, sampleFile } from '../../src/modules/media/testing/sample-files.ts'
import { expectEnvelope } from '../http/expect-envelope.ts'
import { startMediaGateway, type MediaGateway } from './start-media-gateway.ts'

let gateway: MediaGateway

beforeAll(async () => {
  gateway = await startMediaGateway()
})

afterAll(async () => {
  await gateway.close()
})

const download = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> =>
  gateway.fetch(method, path, { key: null, headers })

const bytesOf = async (response: Response): Promise<Buffer> => Buffer.from(await response.arrayBuffer())

describe('a file', () => {
  it('is served without a key, with its type, and cannot run scripts', async () => {
    const bytes = sampleFile('png', 5_000)
    const path = await gateway.publish(bytes, 'image')
    const response = await download(path)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '5000',
      'accept-ranges': 'bytes',
      'content-disposition': 'inline',
      'x-content-type-options': 'nosniff',
      'cache-control': expect.stringMatching(/^private, max-age=\d+, immutable$/),
      'content-security-policy': expect.stringMatching(/^default-src 'none';.* sandbox$/),
      'x-request-id': expect.stringMatching(/^req_/),
    })
    expect((await bytesOf(response)).equals(bytes)).toBe(true)
    expect(path).toMatch(/\.png$/)
  })

  it.each(Object.keys(HEADS))('a file of the form %s has its own type', async (extension) => {
    const bytes = sampleFile(extension, 300)
    const path = await gateway.publish(bytes, kindOf(extension))
    const response = await download(path)
    expect(response.headers.get('content-type')).toMatch(new RegExp(`^${kindOf(extension)}/`))
    expect(path.endsWith(`.${extension}`)).toBe(true)
    expect((await bytesOf(response)).equals(bytes)).toBe(true)
  })

  it('is described by HEAD without a body', async () => {
    const path = await gateway.publish(sampleFile('mp4', 5_000), 'video')
    const response = await download(path, {}, 'HEAD')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('video/mp4')
    expect(response.headers.get('content-length')).toBe('5000')
    expect(response.headers.get('accept-ranges')).toBe('bytes')
    expect(await response.text()).toBe('')
    const part = await download(path, { range: 'bytes=0-9' }, 'HEAD')
    expect([part.status, part.headers.get('content-length')]).toEqual([206, '10'])
  })

  it('a file that the client has is not sent again', async () => {
    const path = await gateway.publish(sampleFile('png'), 'image')
    const tag = (await download(path)).headers.get('etag') ?? ''
    for (const given of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const response = await download(path, { 'if-none-match': given })
      expect(response.status).toBe(304)
      expect(await response.text()).toBe('')
    }
    expect((await download(path, { 'if-none-match': '"other"' })).status).toBe(200)
  })

  it('accepts only GET and HEAD', async () => {
    const path = await gateway.publish(sampleFile('png'), 'image')
    expect((await gateway.request('DELETE', path, { key: null })).status).toBe(405)
  })
})

describe('a part', () => {
  it.each([
    ['bytes=0-99', 0, 99],
    ['bytes=1990-', 1_990, 1_999],
    ['bytes=-5', 1_995, 1_999],
    ['bytes=500-9999', 500, 1_999],
    ['bytes=7-7', 7, 7],
  ])('%s is sent alone', async (range, start, end) => {
    const bytes = sampleFile('mp4')
    const response = await download(await gateway.publish(bytes, 'video'), { range })
    expect(response.status).toBe(206)
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/2000`)
    expect(response.headers.get('content-length')).toBe(String(end - start + 1))
    expect((await bytesOf(response)).equals(bytes.subarray(start, end + 1))).toBe(true)
  })

  it('after the end is 416, with the size', async () => {
    const response = await download(await gateway.publish(sampleFile('mp4'), 'video'), {
      range: 'bytes=2000-',
    })
    expect(response.status).toBe(416)
    expect(response.headers.get('content-range')).toBe('bytes */2000')
  })

  it('a part of several ranges is the whole file', async () => {
    const path = await gateway.publish(sampleFile('mp4'), 'video')
    const response = await download(path, { range: 'bytes=0-1,5-6' })
    expect(response.status).toBe(200)
    expect((await bytesOf(response)).length).toBe(2_000)
  })

  it('is sent only if the file has not changed', async () => {
    const path = await gateway.publish(sampleFile('mp4'), 'video')
    const tag = (await download(path, {}, 'HEAD')).headers.get('etag') ?? ''
    expect((await download(path, { range: 'bytes=0-9', 'if-range': tag })).status).toBe(206)
    expect((await download(path, { range: 'bytes=0-9', 'if-range': '"another"' })).status).toBe(200)
  })
})

describe('an invalid address', () => {
  it('gives the same 404 whatever is wrong with it', async () => {
    const path = await gateway.publish(sampleFile('png'), 'image')
    const other = await gateway.publish(sampleFile('png'), 'image')
    const expired = await gateway.publish(sampleFile('png'), 'image', new Date(Date.now() - 1_000))
    const never = new URL(gateway.stage.media.addressOf({ id: createId() })).pathname
    const paths = [
      expired,
      never,
      path.replace('.png', '.html'),
      path.replace('.png', ''),
      `${path.slice(0, 20)}${path[20] === 'A' ? 'B' : 'A'}${path.slice(21)}`,
      // The id of one file with the signature of another.
      other.slice(0, 35) + path.slice(35),
      '/media/x',
      `/media/${'A'.repeat(70)}.png`,
    ]
    const messages = new Set<string>()
    for (const wrong of paths) {
      const answer = await gateway.request('GET', wrong, { key: null })
      expectEnvelope(answer, 404, { code: 'not_found' })
      messages.add(answer.body.error.message)
    }
    expect([...messages]).toEqual(['No such file.'])
  })

  it('gives 400 if it has invalid characters', async () => {
    const answer = await gateway.request('GET', '/media/%00', { key: null })
    expectEnvelope(answer, 400, { code: 'invalid_value', param: 'token' })
  })

  it('is not found by HEAD either', async () => {
    expect((await download('/media/nothing.png', {}, 'HEAD')).status).toBe(404)
  })

  it('is what the address of a deleted or expired file becomes', async () => {
    const { stage } = gateway
    const { id } = await stage.media.keep({
      place: wholeAccount(stage.accountId),
      purpose: 'result',
      kind: 'image',
      source: sampleFile('png'),
    })
    const path = new URL(stage.media.addressOf({ id })).pathname
    expect((await download(path)).status).toBe(200)
    await stage.database.query('UPDATE media SET expires_at = now() WHERE id = $1', [id])
    expect((await download(path)).status).toBe(404)
    await stage.media.sweep()
    expect((await download(path)).status).toBe(404)
  })
})

describe('a large file', () => {
  it('is read no faster than the client reads, and closed when the client disconnects', async () => {
    const path = await gateway.publish(sampleFile('mp4', 64_000_000), 'video')
    const before = process.memoryUsage().arrayBuffers
    const paused = await new Promise<IncomingMessage>((resolve, reject) => {
      get(gateway.baseUrl + path, resolve).on('error', reject)
    })
    paused.pause()
    await expect.poll(listOpenMedia).toHaveLength(1)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16_000_000)
    paused.destroy()
    await expect.poll(listOpenMedia).toEqual([])
  })

  it('is complete for many concurrent clients', async () => {
    const bytes = sampleFile('mp4', 8_000_000)
    const path = await gateway.publish(bytes, 'video')
    const expected = createHash('sha256').update(bytes).digest('hex')
    const downloads = Array.from({ length: 8 }, async () => {
      const hash = createHash('sha256')
      for await (const chunk of (await download(path)).body ?? []) hash.update(chunk)
      return hash.digest('hex')
    })
    expect(new Set(await Promise.all(downloads))).toEqual(new Set([expected]))
  })
})

function kindOf(extension: string): 'image' | 'video' | 'audio' {
  if (['png', 'jpg', 'gif', 'webp', 'avif'].includes(extension)) return 'image'
  return ['mp4', 'mov', 'webm'].includes(extension) ? 'video' : 'audio'
}

/** Files of the media store that this process, the gateway included, has open. */
async function listOpenMedia(): Promise<string[]> {
  const open = await readdir('/proc/self/fd')
  const targets = await Promise.all(open.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
  return targets.filter((target) => /parkway-media-.*\/media\//.test(target))
}
