import { afterAll, beforeAll, expect, test } from 'vitest'
import { responseTextEvents } from '../upstreams/openai-responses-server.ts'
import {
  parseNumberedEvents,
  RESPONSES,
  startNativeGateway,
  type NativeGateway,
} from './start-native-gateway.ts'

let gateway: NativeGateway

beforeAll(async () => {
  gateway = await startNativeGateway()
})

afterAll(() => gateway.close())

test('a server that writes the event type last still gives a background stream one last event', async () => {
  const frames = responseTextEvents('Hello there').map(({ type, ...members }, sequence) => {
    const data = JSON.stringify({ sequence_number: sequence, ...members, type })
    return `event: ${type}\ndata: ${data}\n\n`
  })
  gateway.openai.respondWith({ headers: { 'content-type': 'text/event-stream' }, chunks: frames })
  const body = { model: 'gpt', input: 'Hi', background: true, stream: true }
  const { body: streamed } = await gateway.request('POST', RESPONSES, { body })
  const events = parseNumberedEvents(streamed)
  expect(events).toHaveLength(frames.length)
  const last = events.at(-1)
  expect(last).toMatchObject({ name: 'response.completed', data: { response: { status: 'completed' } } })
  const id = String(last?.data.response.id)
  const again = await gateway.request('GET', `${RESPONSES}/${id}?stream=true`)
  expect(again.body).toBe(streamed)
  expect((await gateway.request('GET', `${RESPONSES}/${id}`)).body).toEqual(last?.data.response)
})
