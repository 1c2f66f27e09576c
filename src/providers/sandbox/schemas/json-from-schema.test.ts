import * as fc from 'fast-check'
import Schema from 'typebox/schema'
import { expect, test } from 'vitest'
import { jsonFromSchema } from './json-from-schema.ts'
import { createRandomFromText } from '../../../kernel/seeded-random.ts'

const make = (schema: unknown, seed = 'seed') =>
  jsonFromSchema(schema, { random: createRandomFromText(seed) })
const accepts = (schema: object, value: unknown): boolean => Schema.Check(schema, value)

const { node: anySchema } = fc.letrec<{ node: object }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constant({ type: 'string' }),
    fc
      .tuple(fc.nat(40), fc.nat(40))
      .map(([min, extra]) => ({ type: 'string', minLength: min, maxLength: min + extra })),
    fc
      .constantFrom('date-time', 'date', 'email', 'uuid', 'uri', 'ipv4')
      .map((format) => ({ type: 'string', format })),
    fc
      .constantFrom(
        '^[A-Z]{3}-\\d{4}$',
        '^(red|green|blue)$',
        '^\\w+@\\w+\\.com$',
        '^#(?:[0-9a-f]{2}){3}$',
        '^[^\\s]{5,9}$',
      )
      .map((pattern) => ({ type: 'string', pattern })),
    fc.tuple(fc.integer({ min: -999, max: 999 }), fc.nat(99)).map(([minimum, span]) => ({
      type: 'integer',
      minimum,
      maximum: minimum + span,
    })),
    fc.tuple(fc.integer({ min: -99, max: 99 }), fc.constantFrom(0.1, 0.25, 5)).map(([above, multipleOf]) => ({
      type: 'number',
      exclusiveMinimum: above,
      exclusiveMaximum: above + 11,
      multipleOf,
    })),
    fc.constant({ type: 'boolean' }),
    fc.constant({ type: ['string', 'null'] }),
    fc.array(fc.jsonValue(), { minLength: 1, maxLength: 4 }).map((values) => ({ enum: values })),
    fc.jsonValue().map((value) => ({ const: value })),
    fc.tuple(tie('node'), fc.nat(3), fc.nat(3)).map(([items, min, extra]) => ({
      type: 'array',
      items,
      minItems: min,
      maxItems: min + extra,
    })),
    fc
      .tuple(
        fc.dictionary(fc.constantFrom('name', 'city', 'value', 'list', 'a b', 'ünïcode'), tie('node')),
        fc.boolean(),
      )
      .map(([properties, areRequired]) => ({
        type: 'object',
        properties,
        required: areRequired ? Object.keys(properties) : [],
        additionalProperties: false,
      })),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  ),
}))

test('every generated value is valid under its schema', () => {
  fc.assert(
    fc.property(anySchema, fc.string(), (schema, seed) => {
      const value = make(schema, seed)
      expect(accepts(schema, JSON.parse(JSON.stringify(value))), JSON.stringify({ schema, value })).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('a recursive schema terminates', () => {
  const tree = {
    type: 'object',
    properties: {
      label: { type: 'string' },
      children: { type: 'array', items: { $ref: '#' } },
      parent: { anyOf: [{ $ref: '#/$defs/person' }, { type: 'null' }] },
    },
    required: ['label', 'children', 'parent'],
    additionalProperties: false,
    $defs: {
      person: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          friend: { anyOf: [{ $ref: '#/$defs/person' }, { type: 'null' }] },
        },
        required: ['name', 'friend'],
        additionalProperties: false,
      },
    },
  }
  expect(accepts(tree, make(tree))).toBe(true)
})

test('an unsatisfiable schema is answered within limits', () => {
  const endless = {
    type: 'object',
    properties: { self: { $ref: '#' }, twin: { $ref: '#' } },
    required: ['self', 'twin'],
  }
  expect(JSON.stringify(make(endless)).length).toBeLessThan(1_000_000)
  expect(make({ $ref: '#' })).toBeTypeOf('string')
  expect(make({ allOf: [{ $ref: '#' }] })).toBeTypeOf('string')
})

test('conditions of allOf are met together', () => {
  const schema = {
    allOf: [
      { type: 'object', properties: { size: { type: 'integer', minimum: 5 } }, required: ['size'] },
      { properties: { size: { maximum: 6 }, kind: { const: 'box' } }, required: ['kind'] },
    ],
  }
  expect(accepts(schema, make(schema))).toBe(true)
})

test('tuples, unique items and property counts are respected', () => {
  for (const schema of [
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false, minItems: 2 },
    { type: 'array', items: { enum: [1, 2, 3] }, uniqueItems: true, minItems: 3 },
    { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 3 },
    { type: 'object', properties: { a: {}, b: {}, c: {} }, maxProperties: 1 },
  ]) {
    expect(accepts(schema, make(schema)), JSON.stringify(schema)).toBe(true)
  }
})

test('a suggested value is used if the schema allows it', () => {
  const suggest = (name: string) => (name === 'days' ? [99, 3] : name === 'unit' ? ['Celsius'] : ['Paris'])
  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string' },
      code: { type: 'string', maxLength: 2 },
      days: { type: 'integer', maximum: 7 },
      unit: { enum: ['kelvin', 'celsius'] },
    },
  }
  const value = jsonFromSchema(schema, { random: createRandomFromText(''), suggest })
  expect(value).toMatchObject({ city: 'Paris', days: 3, unit: 'celsius' })
  expect(accepts(schema, value)).toBe(true)
})

test.each([
  [{ type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 }, 0, 100],
  [{ type: 'integer', exclusiveMinimum: 0, maximum: 9007199254740991 }, 1, 100],
  [{ type: 'integer', format: 'int64' }, 0, 100],
  [{ type: 'integer', minimum: 1900, maximum: 2147483647 }, 1900, 2000],
  [{ type: 'integer', maximum: -5 }, -105, -5],
  [{ type: 'number', minimum: -1e300, maximum: 1e300 }, 0, 100],
  [{ type: 'integer', minimum: -9007199254740991, multipleOf: 10 }, 0, 1000],
])("a number that %j limits only by the machine's range has a sensible size", (schema, low, high) => {
  fc.assert(
    fc.property(fc.string(), (seed) => {
      const made = make(schema, seed)
      expect(accepts(schema, made)).toBe(true)
      expect(made).toBeGreaterThanOrEqual(low)
      expect(made).toBeLessThanOrEqual(high)
    }),
  )
})
