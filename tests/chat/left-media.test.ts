import { afterEach, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { chunk, pacedStream } from '../upstreams/openai-server.ts'
import { readPieces } from './read-events.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

/** Its vendor stops when a stream is left, and it does not reason. */
const MODEL = modelEntry('talker', [{ provider: 'openai', model: 'talker' }], { capabilities: ['chat'] })
const priceOf = (prompt: number, output: number) => (prompt * 1 + output * 10) / 1e6

let gateway: ChatGateway

const start = async (settings: Record<string, string> = {}) => {
  gateway = await startChatGateway({ models: [MODEL], settings })
}

const onlyRecord = () =>
  eventually(async () => {
    const { body } = await gateway.request('GET', '/v1/usage/records')
    expect(body.data).toHaveLength(1)
    return body.data[0]
  })

const untilDraining = () =>
  eventually(async () => {
    const { body } = await gateway.request('GET', '/metrics', { key: null })
    expect(body).toMatch(/^parkway_drains_running(?:\{[^}]*\})? 1$/m)
  })

/** Reads the first word of a stream and disconnects. */
async function leaveStream(content: readonly object[]) {
  const paced = pacedStream()
  gateway.upstream.respondWith(paced.reply)
  paced.release(chunk({ delta: { role: 'assistant', content: 'Hello' } }))
  const client = new AbortController()
  const response = await gateway.fetch('POST', CHAT, {
    body: chatBody({ model: 'talker', stream: true, messages: [{ role: 'user', content }] }),
    signal: client.signal,
  })
  await readPieces(response).until(/Hello/)
  client.abort()
  return { paced, request: await gateway.upstream.requestNumber(0) }
}

function pngOf(width: number, height: number): string {
  const header = Buffer.alloc(33)
  header.writeUInt32BE(0x89504e47, 0)
  header.writeUInt32BE(0x0d0a1a0a, 4)
  header.write('IHDR', 12)
  header.writeUInt32BE(width, 16)
  header.writeUInt32BE(height, 20)
  return `data:image/png;base64,${header.toString('base64')}`
}

describe('pictures and files of a stream that was left', () => {
  afterEach(() => gateway.close())

  const picture = (url: string) => ({ type: 'image_url', image_url: { url } })
  const PDF = { type: 'file', file: { file_data: `data:application/pdf;base64,${btoa('%PDF-1.7')}` } }
  /** Held as 16,640 tokens each by the rules of an unknown vendor. */
  const PICTURE_TOKENS = 16_640

  test('count as they were held if their size is known', async () => {
    await start()
    const pictures = Array.from({ length: 5 }, () => picture(pngOf(4000, 4000)))
    const { request } = await leaveStream(pictures)
    await request.abandoned
    const record = await onlyRecord()
    expect(record.prompt_tokens).toBeGreaterThanOrEqual(5 * PICTURE_TOKENS)
    expect(record.cost_usd).toBeCloseTo(priceOf(record.prompt_tokens, 1), 12)
  })

  test.each([
    ['a picture at an address', picture('https://example.com/a')],
    ['a document', PDF],
  ])('are read to their usage otherwise: %s', async (_name, part) => {
    await start()
    const { paced } = await leaveStream([part])
    await untilDraining()
    paced.release(chunk({ finish_reason: 'stop' }))
    paced.release(
      chunk({ choices: [], usage: { prompt_tokens: 4_000, completion_tokens: 7, total_tokens: 4_007 } }),
    )
    paced.finish()
    expect(await onlyRecord()).toMatchObject({ outcome: 'disconnected', cost_usd: priceOf(4_000, 7) })
  })

  test('count as they were held if they cannot be read to their usage', async () => {
    await start({ PARKWAY_DRAINS_MAX: '0' })
    const { request } = await leaveStream([PDF, picture('https://example.com/a')])
    await request.abandoned
    // The whole context of the model.
    expect(await onlyRecord()).toMatchObject({ prompt_tokens: 100_000, cost_usd: priceOf(100_000, 1) })
  })
})
