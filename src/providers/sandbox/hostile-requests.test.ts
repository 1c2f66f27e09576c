import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonFromSchema } from './schemas/json-from-schema.ts'
import { createRandomFromText } from '../../kernel/seeded-random.ts'
import { createSuggestions } from './schemas/suggest-values.ts'
import { UpstreamError } from '../failures/upstream-error.ts'
import { chatOnce, userMessage } from './testing/sandbox-client.ts'
import { createWorkBudget } from './work-budget.ts'

const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`)
const properties = (count: number, schema: unknown = { type: 'string' }) =>
  Object.fromEntries(names(count).map((name) => [name, schema]))

/** Without limits, each takes a second to minutes: work quadratic in the schema, or in the product of two of its parts. */
const HOSTILE: Record<string, object> = {
  'many required properties': { type: 'object', properties: properties(9000), required: names(9000) },
  'a long reference for every item': {
    type: 'array',
    minItems: 1000,
    items: { $ref: `#${'/a'.repeat(100_000)}` },
  },
  'a large enum for every item': { type: 'array', minItems: 1000, items: { enum: names(25_000) } },
  'a large constant for every item': { type: 'array', minItems: 1000, items: { const: 'x'.repeat(100_000) } },
  'a long name in every item': {
    type: 'array',
    minItems: 1000,
    items: { type: 'object', properties: { ['n'.repeat(100_000)]: {} } },
  },
  'long texts': {
    type: 'array',
    minItems: 1000,
    items: { type: 'array', minItems: 1000, items: { type: 'string', minLength: 10_000 } },
  },
  'a pattern that no text is long enough for': {
    type: 'array',
    minItems: 1000,
    items: { type: 'string', pattern: '(a?){1000}', minLength: 10_000 },
  },
  'many parts of one schema': {
    allOf: names(4000).map((name) => ({ properties: { [name]: {}, same: {} }, required: [name] })),
  },
  'parts of one large enum': { allOf: Array.from({ length: 30 }, () => ({ enum: names(800) })) },
  'references to something large': {
    type: 'object',
    properties: properties(2000, { $ref: '#/$defs/large' }),
    $defs: { large: properties(6000, 1) },
  },
  'unique texts that cannot be unique': {
    type: 'array',
    minItems: 1000,
    uniqueItems: true,
    items: { type: 'array', minItems: 500, items: { const: 'same' } },
  },
}

const STEPS_OVER_MAX = 30_000

test.each(Object.entries(HOSTILE))('%s take a limited number of steps and characters', (_, schema) => {
  const budget = createWorkBudget()
  const before = { ...budget }
  const suggest = createSuggestions('one two three four '.repeat(50))
  const value = jsonFromSchema(schema, { random: createRandomFromText(''), suggest, budget })
  const written = JSON.stringify(value) ?? ''
  // Only the last step may exceed the budget, and it may be large.
  expect(budget.stepsLeft).toBeGreaterThan(-STEPS_OVER_MAX)
  expect(written.length).toBeLessThan(2 * before.charactersLeft)
})

test('no combination of schemas takes more than a limited number of steps', () => {
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(...Object.values(HOSTILE).filter((value) => JSON.stringify(value).length < 20_000)),
      fc.record({ type: fc.constant('array'), minItems: fc.nat(2000), items: tie('schema') }),
      fc.record({ allOf: fc.array(tie('schema'), { maxLength: 5 }) }),
      fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 5 }), oneOf: fc.array(tie('schema')) }),
      fc.record({ properties: fc.dictionary(fc.string(), tie('schema')), minProperties: fc.nat(2000) }),
      fc.constant({ $ref: '#' }),
    ),
  }))
  fc.assert(
    fc.property(schema, (hostile) => {
      const budget = createWorkBudget()
      jsonFromSchema(hostile, { random: createRandomFromText(''), budget })
      expect(budget.stepsLeft).toBeGreaterThan(-STEPS_OVER_MAX)
    }),
    { numRuns: 100 },
  )
})

const deep = (depth: number): Record<string, unknown> =>
  JSON.parse(`${'{"properties":{"a":'.repeat(depth)}{}${'}}'.repeat(depth)}`)

test.each([
  ['a schema of 1,000 levels', { response_format: schemaFormat(deep(1_000)) }],
  [
    'tools of 1,000 levels',
    { tools: [{ type: 'function', function: { name: 'f', parameters: deep(1_000) } }] },
  ],
  ['a schema of half a megabyte', { response_format: schemaFormat({ enum: names(70_000) }) }],
])('%s are refused with 400', async (_, rest) => {
  const error: unknown = await chatOnce({ messages: [userMessage('Hi')], ...rest }).catch(
    (cause: unknown) => cause,
  )
  expect(error).toBeInstanceOf(UpstreamError)
  expect(error).toMatchObject({ details: { status: 400, upstreamParam: expect.any(String) } })
})

function schemaFormat(schema: object) {
  return { type: 'json_schema', json_schema: { name: 'x', schema } }
}

test('other requests run while a long answer with twenty alternatives per token is made', async () => {
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const { choices } = await chatOnce({
    messages: [userMessage('[[sandbox:tokens n=20000]]')],
    logprobs: true,
    top_logprobs: 20,
  })
  isDone = true
  expect(choices[0]?.logprobs?.content).toHaveLength(20_000)
  // One turn for every 256 tokens, and one for every 4,096 characters.
  expect(turns).toBeGreaterThan(90)
})
