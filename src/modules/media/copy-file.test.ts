import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { wholeAccount } from '../../storage/place.ts'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import type { CopyOrder } from './media.ts'
import { openMediaStage, type MediaStage } from './testing/media-stage.ts'
import { sampleFile } from './testing/sample-files.ts'

let stage: MediaStage
let server: Server
let base: string
let requests: IncomingMessage[]
let answer: (request: IncomingMessage, response: ServerResponse) => void

beforeAll(async () => {
  stage = await openMediaStage()
  server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

beforeEach(() => {
  requests = []
})

afterEach(async () => {
  await stage.database.query('DELETE FROM media')
})

afterAll(async () => {
  await stage.close()
  server.closeAllConnections()
  server.close()
})

const copy = (order: Partial<CopyOrder> = {}) =>
  stage.media.keepFromAddress({
    place: wholeAccount(stage.accountId),
    purpose: 'input',
    kind: 'image',
    url: `${base}/cat.png`,
    param: 'image_url',
    ...order,
  })

it('the content of an address is copied', async () => {
  answer = (_request, response) => response.end(sampleFile('png'))
  const file = await copy({ headers: { authorization: 'Bearer upstream' } })
  const { bytes } = await stage.media.read(wholeAccount(stage.accountId), file.id)
  expect(Buffer.from(bytes).equals(sampleFile('png'))).toBe(true)
  expect(requests[0]?.headers.authorization).toBe('Bearer upstream')
})

it.each(['http://10.0.0.1/cat.png', 'ftp://example.com/cat.png', 'http://169.254.169.254/', 'cat.png'])(
  '%s is refused, and the field is named',
  async (url) => {
    await expect(copy({ url })).rejects.toMatchObject({ code: 'invalid_value', param: 'image_url' })
  },
)

it("an address that answers 404 is the client's fault", async () => {
  answer = (_request, response) => response.writeHead(404).end()
  await expect(copy()).rejects.toMatchObject({
    code: 'invalid_value',
    param: 'image_url',
    message: 'The image could not be fetched: its address answers 404.',
  })
  expect(requests).toHaveLength(1)
  await expect(copy({ purpose: 'result' })).rejects.toMatchObject({ code: 'provider_error', param: null })
})

it('a page instead of an image is refused', async () => {
  answer = (_request, response) =>
    response.writeHead(200, { 'content-type': 'image/png' }).end('<html></html>')
  await expect(copy()).rejects.toMatchObject({ code: 'invalid_value', param: 'image_url' })
})

it('a file that is too large is refused, whether its size is announced or not', async () => {
  for (const isTold of [true, false]) {
    answer = (_request, response) => {
      if (!isTold) response.flushHeaders()
      response.end(sampleFile('png', 50_000))
    }
    await expect(copy({ bytesMax: 10_000 })).rejects.toMatchObject({
      code: 'invalid_value',
      param: 'image_url',
    })
  }
  expect(await stage.database.query('SELECT id FROM media')).toEqual([])
})

it('a result that fails temporarily is requested again', async () => {
  answer = (_request, response) => {
    if (requests.length === 1) response.writeHead(503).end()
    else response.end(sampleFile('mp4'))
  }
  const file = await copy({ purpose: 'result', kind: 'video' })
  expect(file.contentType).toBe('video/mp4')
  expect(requests).toHaveLength(2)
})

it('a result that is cut off is requested again, and only the complete one is kept', async () => {
  answer = (_request, response) => {
    response.writeHead(200, { 'content-length': '40000' })
    if (requests.length === 1) response.write(sampleFile('mp4', 20_000), () => response.destroy())
    else response.end(sampleFile('mp4', 40_000))
  }
  expect((await copy({ purpose: 'result', kind: 'video' })).bytes).toBe(40_000)
  expect(await stage.database.query('SELECT id FROM media')).toHaveLength(1)
})

it('a cancelled copy ends with the reason and leaves nothing', async () => {
  const cancellation = new Cancellation()
  const reason = new Error('the task was cancelled')
  answer = (_request, response) => {
    response.write(sampleFile('mp4', 20_000), () => cancellation.cancel(reason))
  }
  await expect(copy({ purpose: 'result', kind: 'video', cancellation })).rejects.toBe(reason)
  expect(await stage.database.query('SELECT id FROM media')).toEqual([])
})
