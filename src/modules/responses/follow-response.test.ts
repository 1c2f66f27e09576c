import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import { silentLogger } from '../../kernel/logger.ts'
import type { Database } from '../../storage/database.ts'
import type { MessageHandler } from '../../storage/bus/message-bus.ts'
import { wholeAccount } from '../../storage/place.ts'
import { followResponse } from './follow-response.ts'
import { createResponseChanges } from './response-changes.ts'

const RESPONSE = 'resp_00000000000000000000000000000001'
const TASK = '018f0000-0000-7000-8000-00000000000a'
const EVENT = '{"type":"response.in_progress","sequence_number":0}'

let looks: number
let status: string
let events: string[]
let cancellation: Cancellation
let publish: (topic: string, payload: string) => void

beforeEach(() => {
  vi.useFakeTimers()
  looks = 0
  status = 'processing'
  events = []
  cancellation = new Cancellation()
})

afterEach(() => {
  cancellation.cancel(new Error('the test is over'))
  vi.useRealTimers()
})

function follow() {
  const query = async (text: string) => {
    if (!text.includes('FROM responses'))
      return events.length === 0 ? [] : [{ sequence: 0, events: events.join('\n') }]
    looks += 1
    return [{ response: '{}', is_background: true, task_id: TASK, status }]
  }
  const handlers = new Map<string, MessageHandler>()
  const messageBus = {
    subscribe: (topic: string, handler: MessageHandler) => {
      handlers.set(topic, handler)
      return () => {}
    },
    publish: async () => {},
    onConnectionLost: () => () => {},
  }
  publish = (topic, payload) => void handlers.get(topic)?.(payload)
  const changes = createResponseChanges({ messageBus, logger: silentLogger })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it only reads, by the two queries above
  const database = { query } as unknown as Database
  const followed = {
    place: wholeAccount('a'),
    responseId: RESPONSE,
    taskId: TASK,
    startingAfter: -1,
    cancellation,
  }
  return followResponse({ database, changes }, followed)
}

test('a follower of a silent response polls less and less often', async () => {
  void follow().next()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(looks).toBeGreaterThan(5)
  expect(looks).toBeLessThan(16)
})

test('a follower polls soon again after events arrived', async () => {
  const stream = follow()
  const first = stream.next()
  await vi.advanceTimersByTimeAsync(60_000)
  events = [EVENT]
  publish('responses.changed', RESPONSE)
  expect((await first).value).toEqual([Buffer.from(EVENT)])
  const before = looks
  void stream.next()
  await vi.advanceTimersByTimeAsync(1_500)
  expect(looks).toBe(before + 2)
})

test.each([
  ['responses.changed', RESPONSE],
  ['tasks.changed', `${TASK},018f0000-0000-7000-8000-00000000000b`],
])('a message of %s ends the stream of a failed response without polling', async (topic, payload) => {
  const first = follow().next()
  await vi.advanceTimersByTimeAsync(30_000)
  status = 'failed'
  publish(topic, payload)
  const [event] = (await first).value ?? []
  expect(JSON.parse(String(event))).toMatchObject({ type: 'response.failed', sequence_number: 0 })
})
