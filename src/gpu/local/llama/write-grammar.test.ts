import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { toGrammarSchema } from './to-grammar-schema.ts'
import { writeGrammar } from './write-grammar.ts'

/** Returns a pattern for what the root rule of a simple grammar allows. Its only characters are `x` and `0`. */
function toPattern(schema: object): RegExp {
  const grammar = writeGrammar(
    toGrammarSchema({ ...schema }, { param: 'response_format', use: 'own_grammar' }),
  )
  const [root = ''] = grammar.split('\n')
  const pattern = root
    .slice('root ::= '.length)
    .replaceAll(/"((?:\\.|[^"\\])*)"/g, (_, text: string) => text.replace('[', String.raw`\[`))
    .replaceAll('part-1', '0')
    .replaceAll('char', 'x')
    .replaceAll('space', '')
    .replaceAll(' ', '')
  return new RegExp(`^${pattern}$`)
}

const bounds = fc
  .tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 3_000 }))
  .map(([min, more]) => ({ min, max: min + more }))
/** A large maximum may be smaller by less than a block. */
const isAlways = (length: number, { min, max }: { min: number; max: number }) =>
  length >= min && length <= (max - min <= 500 ? max : max - 99)
const isNever = (length: number, { min, max }: { min: number; max: number }) => length < min || length > max

const LENGTHS_OFF = [-1, 0, 1, 99, 100, 101]

function checkLengths(
  pattern: RegExp,
  write: (length: number) => string,
  given: { min: number; max: number },
): void {
  const lengths = [given.min, given.max, given.max - 99, Math.floor((given.min + given.max) / 2)]
  for (const length of lengths.flatMap((near) => LENGTHS_OFF.map((off) => near + off))) {
    if (length < 0) continue
    const isAllowed = pattern.test(write(length))
    if (isAlways(length, given)) expect([length, isAllowed]).toEqual([length, true])
    if (isNever(length, given)) expect([length, isAllowed]).toEqual([length, false])
  }
}

test('the grammar of a string enforces its length, also a large one', () => {
  fc.assert(
    fc.property(bounds, (given) => {
      const pattern = toPattern({ type: 'string', minLength: given.min, maxLength: given.max })
      checkLengths(pattern, (length) => `"${'x'.repeat(length)}"`, given)
    }),
  )
})

test('the grammar of an array enforces its length, also a large one', () => {
  fc.assert(
    fc.property(bounds, (given) => {
      const items = { const: 0 }
      const pattern = toPattern({ type: 'array', items, minItems: given.min, maxItems: given.max })
      checkLengths(pattern, (length) => `[${Array(length).fill('0').join(',')}]`, given)
    }),
  )
})

test('a maximum beyond what a grammar can contain is enforced as a smaller one', () => {
  const pattern = toPattern({ type: 'string', maxLength: 1e9 })
  expect([pattern.test(`"${'x'.repeat(49_000)}"`), pattern.test(`"${'x'.repeat(50_001)}"`)]).toEqual([
    true,
    false,
  ])
})
