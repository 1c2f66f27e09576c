import * as fc from 'fast-check'
import Schema from 'typebox/schema'
import { expect, test } from 'vitest'
import { chatOnce, chatStream, joinDeltas, userMessage, type Completion } from './testing/sandbox-client.ts'

const ask = (content: string, rest: object = {}) => ({ messages: [userMessage(content)], ...rest })
const firstText = (completion: Completion): string => completion.choices[0]?.message.content ?? ''

test('the answer says that it is from the sandbox and quotes the question', async () => {
  const completion = await chatOnce(ask('How tall is a giraffe?'))
  expect(firstText(completion)).toMatch(/^[^.]*sandbox/i)
  expect(firstText(completion)).toContain('How tall is a giraffe?')
  expect(completion).toMatchObject({ object: 'chat.completion', model: 'upstream-model' })
  expect(completion.choices[0]).toMatchObject({ index: 0, finish_reason: 'stop', logprobs: null })
})

test('the same request and seed give the same answer, streamed or not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.integer(), async (content, seed) => {
      const whole = await chatOnce(ask(content, { seed }))
      expect(firstText(await chatOnce(ask(content, { seed })))).toBe(firstText(whole))
      expect(joinDeltas(await chatStream(ask(content, { seed, stream: true })))[0]?.content).toBe(
        firstText(whole),
      )
    }),
    { numRuns: 30 },
  )
})

test('another seed gives other words', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, seed) => chatOnce(ask('Tell me more', { seed }))),
  )
  expect(new Set(answers.map(firstText)).size).toBe(20)
})

test('n choices are distinct', async () => {
  const { choices } = await chatOnce(ask('Hi', { n: 20 }))
  expect(new Set(choices.map(({ message }) => message.content)).size).toBe(20)
  expect(choices.map(({ index }) => index)).toEqual(Array.from({ length: 20 }, (_, index) => index))
})

test('no answer is longer than max_tokens, and a cut one says so', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'grapheme' }),
      fc.integer({ min: 1, max: 200 }),
      async (content, limit) => {
        const free = await chatOnce(ask(content))
        for (const field of ['max_tokens', 'max_completion_tokens']) {
          const cut = await chatOnce(ask(content, { [field]: limit }))
          expect(cut.usage?.completion_tokens).toBeLessThanOrEqual(limit)
          expect(firstText(free).startsWith(firstText(cut))).toBe(true)
          expect(cut.choices[0]?.finish_reason).toBe(firstText(cut) === firstText(free) ? 'stop' : 'length')
        }
      },
    ),
    { numRuns: 30 },
  )
})

test('a stop sequence never appears in the answer', async () => {
  const whole = firstText(await chatOnce(ask('Stop somewhere, please 😀')))
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 5 }), async (start, length) => {
      const stop = whole.slice(start, start + length)
      for (const sequences of [stop, ['never there', stop]]) {
        const { choices } = await chatOnce(ask('Stop somewhere, please 😀', { stop: sequences }))
        expect(choices[0]?.message.content).not.toContain(stop)
        expect(choices[0]?.message.content?.isWellFormed()).toBe(true)
        expect(choices[0]?.finish_reason).toBe('stop')
      }
    }),
    { numRuns: 30 },
  )
})

test('json_object answers with an object', async () => {
  const completion = await chatOnce(ask('Give me “JSON”\n', { response_format: { type: 'json_object' } }))
  expect(JSON.parse(firstText(completion))).toMatchObject({ sandbox: true, question: 'Give me “JSON”' })
})

test('json_schema answers with a value of the schema', async () => {
  const schema = {
    type: 'object',
    properties: {
      steps: { type: 'array', items: { $ref: '#/$defs/step' }, minItems: 3 },
      answer: { type: 'number' },
    },
    required: ['steps', 'answer'],
    additionalProperties: false,
    $defs: { step: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
  }
  const response_format = { type: 'json_schema', json_schema: { name: 'steps', strict: true, schema } }
  const value: unknown = JSON.parse(firstText(await chatOnce(ask('Solve it', { response_format }))))
  expect(Schema.Check(schema, value)).toBe(true)
})

test('images are described by their headers, addresses by their host only', async () => {
  const pixel =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: pixel } },
    { type: 'image_url', image_url: { url: 'https://cats.example.org/secret/path.png?token=1' } },
    { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
    { type: 'file', file: { filename: 'report.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
    { type: 'video_url', video_url: { url: 'https://films.example.org/a.mp4' } },
  ]
  const completion = await chatOnce({ messages: [{ role: 'user', content }] })
  const text = firstText(completion)
  expect(text).toContain('2 images: a PNG of 1×1 pixels; one at cats.example.org')
  expect(text).toContain('audio clip (wav)')
  expect(text).toContain('report.pdf')
  expect(text).toContain('films.example.org')
  expect(text).not.toContain('secret')
  expect(completion.usage?.prompt_tokens).toBeGreaterThan(2 * 765 + 500 + 1000 + 2000)
})

test('a reasoning model shows its reasoning if asked, and only then', async () => {
  for (const [canReason, request, isShown] of [
    [true, { think: true }, true],
    [true, { reasoning_effort: 'high' }, true],
    [true, {}, false],
    [true, { think: false, reasoning_effort: 'high' }, false],
    [true, { reasoning_effort: 'none' }, false],
    [false, { think: true, reasoning_effort: 'high' }, false],
  ] as const) {
    const { choices, usage } = await chatOnce(ask('Why?', request), { canReason })
    expect(choices[0]?.message.reasoning_content !== undefined).toBe(isShown)
    expect((usage?.completion_tokens_details.reasoning_tokens ?? 0) > 0).toBe(isShown)
  }
})

test('reasoning is streamed before the answer', async () => {
  const chunks = await chatStream(ask('Why?', { think: true, stream: true }), { canReason: true })
  const kinds = chunks
    .flatMap(({ choices }) => Object.keys(choices[0]?.delta ?? {}))
    .filter((key) => key.includes('content'))
  expect(kinds.lastIndexOf('reasoning_content')).toBeLessThan(kinds.indexOf('content', 1))
})

test('instructions are acknowledged if the user asks about them', async () => {
  const messages = [
    { role: 'system', content: 'Speak like a pirate.' },
    userMessage('What are your instructions?'),
  ]
  expect(firstText(await chatOnce({ messages }))).toContain('Speak like a pirate.')
  expect(firstText(await chatOnce({ messages: [messages[0], userMessage('Hello')] }))).not.toContain('pirate')
})

test('logprobs have one entry per token with the requested alternatives', async () => {
  const { choices } = await chatOnce(ask('Hi', { logprobs: true, top_logprobs: 3 }))
  const content = choices[0]?.logprobs?.content ?? []
  expect(content.map(({ token }) => token).join('')).toBe(choices[0]?.message.content)
  for (const { logprob, top_logprobs: top } of content) {
    expect(logprob).toBeLessThanOrEqual(0)
    expect(top).toHaveLength(3)
    expect(top[0]?.logprob).toBe(logprob)
  }
})

test('usage adds up', async () => {
  const { usage } = await chatOnce(ask('Hello there', { n: 2 }))
  expect(usage).toMatchObject({ prompt_tokens: 9, prompt_tokens_details: { cached_tokens: 0 } })
  expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0))
})

test('an empty prompt is answered', async () => {
  expect(firstText(await chatOnce(ask('')))).toContain('empty')
  expect(firstText(await chatOnce({ messages: [{ role: 'assistant', content: null }] }))).toContain('empty')
})

test.for(['word ', 'a', '人工智能', '\n', '[[sandbox:'])(
  'a megabyte of %j is answered with a limited text',
  async (unit) => {
    const completion = await chatOnce(ask(unit.repeat(Math.ceil(1_048_576 / unit.length))))
    expect(firstText(completion).length).toBeLessThan(2000)
    expect(completion.usage?.prompt_tokens).toBeGreaterThan(1000)
  },
)
