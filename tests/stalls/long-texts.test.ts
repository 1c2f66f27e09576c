import { setFlagsFromString } from 'node:v8'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { elideMedia } from '../../src/modules/request-log/bodies/prepare-body.ts'
import { createRandom } from '../../src/kernel/seeded-random.ts'
import { longOr } from '../support/long-or.ts'
import { testSeed } from '../support/random-share.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { listOperations, withMember } from './json-operations.ts'

// A process that has compiled many regular expressions compiles the next ones so. A repetition in them then takes memory for each
// character, and the expression throws on a long text.
setFlagsFromString('--no-regexp-optimization')

const LENGTH = 12 * 1024 * 1024

/** How many of all members are tried. */
const PERCENT = longOr(100, 5)
const PLACES_PERCENT = longOr(100, 40)

const LONG_TEXTS: Readonly<Record<string, string>> = {
  letters: 'A'.repeat(LENGTH),
  'a data URI': `data:image/png;base64,${'A'.repeat(LENGTH)}`,
  spaces: `A${' '.repeat(LENGTH)}A`,
  digits: '1'.repeat(LENGTH),
}

const random = createRandom(testSeed)

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({ mayAnswerAnything: true })
})

afterAll(() => gateway.close())

interface LongBody {
  readonly method: string
  readonly path: string
  readonly body: string
}

async function isFault({ method, path, body }: LongBody): Promise<boolean> {
  const answer = await gateway.request(method, path, { body })
  return answer.status === 500
}

test('no route fails on a long text, however V8 compiles regular expressions', async () => {
  const shapes = Object.entries(LONG_TEXTS)
  const faults: string[] = []
  for (const operation of await listOperations(gateway)) {
    for (const member of operation.members) {
      if (random.below(100) >= PERCENT) continue
      const [shape = '', text = ''] = shapes[random.below(shapes.length)] ?? []
      const body = withMember(operation, member, JSON.stringify(text))
      if (await isFault({ ...operation, body }))
        faults.push(`${operation.method} ${operation.path} ${member}: ${shape}`)
    }
  }
  expect(faults).toEqual([])
})

/** Where long texts are expected. */
const PLACES: readonly (readonly [path: string, write: (text: string) => object])[] = [
  ['/v1/chat/completions', (text) => ({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: text }] })],
  [
    '/v1/chat/completions',
    (url) => ({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    }),
  ],
  [
    '/v1/chat/completions',
    (data) => ({
      model: 'gpt-4o-mini',
      messages: [
        { role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf', file_data: data } }] },
        { role: 'user', content: [{ type: 'input_audio', input_audio: { data, format: 'wav' } }] },
      ],
    }),
  ],
  [
    '/v1/messages',
    (data) => ({
      model: 'gpt-4o-mini',
      max_tokens: 5,
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
        },
      ],
    }),
  ],
  [
    '/v1/responses',
    (data) => ({
      model: 'gpt-4o-mini',
      input: [{ role: 'user', content: [{ type: 'input_file', filename: 'a.pdf', file_data: data }] }],
    }),
  ],
  ['/v1/embeddings', (input) => ({ model: 'text-embedding-3-small', input })],
  ['/v1/moderations', (input) => ({ model: 'omni-moderation-latest', input })],
  ['/v1/images/edits', (image) => ({ model: 'gpt-image-1', prompt: 'x', image })],
  ['/v1/images/edits', (b64) => ({ model: 'gpt-image-1', prompt: 'x', image: { b64 } })],
  ['/v1/images/edits', (url) => ({ model: 'gpt-image-1', prompt: 'x', image: { url } })],
  ['/v1/audio/transcriptions', (file) => ({ model: 'whisper-1', file })],
]

test('requests with a long text where one is expected are answered', async () => {
  const faults: string[] = []
  for (const [path, write] of PLACES)
    for (const [shape, text] of Object.entries(LONG_TEXTS)) {
      if (random.below(100) >= PLACES_PERCENT) continue
      if (await isFault({ method: 'POST', path, body: JSON.stringify(write(text)) }))
        faults.push(`${path}: ${shape}`)
    }
  expect(faults).toEqual([])
})

test.each(Object.entries(LONG_TEXTS))('bodies with long %s are prepared for storage', async (shape, text) => {
  const elided = await elideMedia(JSON.stringify({ text }))
  expect(elided.length < 1_000).toBe(shape !== 'spaces')
})
