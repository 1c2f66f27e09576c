import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { readPieces } from '../../chat/read-events.ts'
import { eventually } from '../../support/eventually.ts'
import { LEFT_STREAMS } from './left-streams.ts'
import { startThreeClouds } from './three-clouds.ts'

/** No cloud says that a request whose connection closes is not billed to its end, so its answer is read to its usage. */
const { gateway, clouds, reset, close } = await startThreeClouds()
beforeEach(() => reset())
afterAll(close)

const body = (members: object) => ({
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Hi' }],
  ...members,
})
const listRecords = async () => (await gateway.request('GET', '/v1/usage/records')).body.data
const nextRecord = (before: number) =>
  eventually(async () => {
    const records = await listRecords()
    expect(records).toHaveLength(before + 1)
    return records[0]
  })
const drains = () =>
  eventually(async () => {
    const metrics = await gateway.request('GET', '/metrics', { key: null })
    expect(metrics.body).toMatch(/^parkway_drains_running(?:\{[^}]*\})? 1$/m)
  })

describe('a client that leaves pays what the cloud bills for the whole answer', () => {
  test.each(LEFT_STREAMS)('of a stream: $model at $path', async ({ model, path, cloud, reply, usage }) => {
    const before = (await listRecords()).length
    const { promise: mayFinish, resolve: finish } = Promise.withResolvers<void>()
    const begin = reply.chunks.findIndex((chunk) => Buffer.from(chunk).includes('Hello'))
    const shown = begin === -1 ? 3 : begin + 1
    async function* rest() {
      await mayFinish
      yield* reply.chunks.slice(shown)
    }
    clouds[cloud].server.respondWith({ ...reply, chunks: reply.chunks.slice(0, shown), more: rest() })
    const client = new AbortController()
    const response = await gateway.fetch('POST', path, {
      body: body({ model, stream: true }),
      signal: client.signal,
    })
    await readPieces(response).until(/Hello/)
    client.abort()
    await drains()
    finish()
    expect(await nextRecord(before)).toMatchObject({ model, ...usage })
  })

  test.each(LEFT_STREAMS)('of a whole answer: $model at $path', async ({ model, path, cloud, usage }) => {
    const before = (await listRecords()).length
    const { server } = clouds[cloud]
    const { promise: mayAnswer, resolve: release } = Promise.withResolvers<void>()
    server.respondWith(async (request) => {
      await mayAnswer
      return clouds[cloud].answer(request)
    })
    const client = new AbortController()
    const asked = gateway.fetch('POST', path, { body: body({ model }), signal: client.signal })
    await server.requestNumber(0)
    client.abort()
    await expect(asked).rejects.toThrow()
    await drains()
    release()
    expect(await nextRecord(before)).toMatchObject({ model, ...usage })
  })
})
