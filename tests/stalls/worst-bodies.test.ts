import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRandom } from '../../src/kernel/seeded-random.ts'
import { longOr } from '../support/long-or.ts'
import { randomShare, testSeed } from '../support/random-share.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { listOperations, withMember, type Operation } from './json-operations.ts'
import { startMeasuredClient, type MeasuredClient } from './measured-client.ts'
import { measureReferenceMs } from './reference-work.ts'
import { WORST_BODIES } from './worst-bodies.ts'

/**
 * How long a request may hold the event loop, as a multiple of the reference: 100 ms where that takes 10 ms. Without the limits the
 * worst bodies take seconds.
 */
const TURN_REFERENCES_MAX = 10
/** The code is compiled and memory is collected in some of them. */
const ATTEMPTS_MAX = 4
/** How many of the shapes are tried on each of the hot routes. */
const SHARE = longOr(1, 0.5)

const KIBIBYTE = 1024
/** The largest that is parsed at once, and about as much as has the most parts. */
const SIZES_BYTES = [250 * KIBIBYTE, 900 * KIBIBYTE]
/** Nearly the largest that is read. */
const LARGEST_BYTES = 30 * KIBIBYTE * KIBIBYTE

let gateway: TestGateway
let client: MeasuredClient
let referenceMs = 0

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_LIMITS: NO_LIMITS }, mayAnswerAnything: true })
  client = startMeasuredClient()
  referenceMs = measureReferenceMs()
})

afterAll(async () => {
  await client.close()
  await gateway.close()
})

const NO_LIMITS = JSON.stringify({
  tiers: [
    {
      name: 'all',
      balance_usd: 0,
      requests_per_minute: null,
      tokens_per_minute: null,
      concurrent_requests: null,
      spend_usd_per_minute: null,
      media_bytes_max: null,
      file_bytes_max: null,
      dataset_bytes_max: null,
      task_bytes_max: null,
      stored_response_bytes_max: null,
      response_bytes_max: null,
    },
  ],
})

/** Returns how many references the longest turn takes, in the best of a few attempts. */
async function measure({ method, path }: Operation, body: string): Promise<number> {
  const sent = {
    url: gateway.baseUrl + path,
    method,
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: Buffer.from(body),
  }
  let least = Infinity
  for (let attempt = 0; attempt < ATTEMPTS_MAX && least > TURN_REFERENCES_MAX; attempt += 1) {
    const { longestTurnMs, status, text } = await client.send(sent)
    expect(status, text).not.toBe(500)
    // A core that others use is slower at everything, from one moment to the next.
    if (longestTurnMs > TURN_REFERENCES_MAX * referenceMs) referenceMs = measureReferenceMs()
    least = Math.min(least, longestTurnMs / referenceMs)
  }
  return least
}

test('no body of any shape and size holds the event loop for long, on any route', async () => {
  const operations = await listOperations(gateway)
  expect(operations.length).toBeGreaterThan(40)
  const random = createRandom(testSeed)
  const shapes = Object.entries(WORST_BODIES)
  const made = new Map<string, string>()
  const slow: string[] = []
  const look = async (operation: Operation, member: string, bytes: number): Promise<void> => {
    const [shape, make] = shapes[random.below(shapes.length)] ?? ['', () => '0']
    const value = made.get(`${shape} ${bytes}`) ?? make(bytes)
    made.set(`${shape} ${bytes}`, value)
    const times = await measure(operation, withMember(operation, member, value))
    if (times > TURN_REFERENCES_MAX)
      slow.push(
        `${operation.method} ${operation.path} ${member}: ${shape} of ${bytes} bytes, ${times.toFixed(1)} times the reference`,
      )
  }
  for (const operation of operations) {
    const members = [...operation.members, 'unknown']
    for (const bytes of longOr(SIZES_BYTES, [SIZES_BYTES[random.below(SIZES_BYTES.length)] ?? 0]))
      await look(operation, members[random.below(members.length)] ?? 'unknown', bytes)
  }
  expect(slow).toEqual([])
})

const HOT: readonly (readonly [string, string, string])[] = [
  ['/v1/chat/completions', 'messages', '{"model":"gpt-4o-mini"}'],
  ['/v1/messages', 'messages', '{"model":"gpt-4o-mini","max_tokens":5}'],
  ['/v1/responses', 'input', '{"model":"gpt-4o-mini"}'],
  ['/v1/embeddings', 'input', '{"model":"text-embedding-3-small"}'],
]

test.each(HOT)('no input of any shape holds the event loop for long on %s', async (path, member, rest) => {
  const operation = { method: 'POST', path, members: [], example: JSON.parse(rest) }
  const slow: string[] = []
  for (const [shape, make] of Object.entries(WORST_BODIES).filter(() => randomShare() < SHARE))
    for (const bytes of shape.startsWith('one text') ? [LARGEST_BYTES] : SIZES_BYTES) {
      const times = await measure(operation, withMember(operation, member, make(bytes)))
      if (times > TURN_REFERENCES_MAX)
        slow.push(`${shape} of ${bytes} bytes: ${times.toFixed(1)} times the reference`)
    }
  expect(slow).toEqual([])
})
