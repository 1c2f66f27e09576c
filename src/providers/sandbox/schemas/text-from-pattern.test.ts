import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRandomFromText, type SeededRandom } from '../../../kernel/seeded-random.ts'
import { textFromPattern as write } from './text-from-pattern.ts'
import { createWorkBudget } from '../work-budget.ts'

const ANY_LENGTH = { lengthMin: 0, lengthMax: 4000 }

const textFromPattern = (
  pattern: string,
  random: SeededRandom,
  range: typeof ANY_LENGTH,
  budget = createWorkBudget(),
) => write(pattern, random, { ...range, budget })

test.for([
  '^[A-Z]{2}\\d{3,5}$',
  '^(foo|bar)+(-baz)?$',
  '^\\+?[1-9]\\d{1,14}$',
  '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  '^(?<year>\\d{4})-(0[1-9]|1[0-2])$',
  '^[^\\w]$',
  '^[\\]\\-a]{4}$',
  '^$',
  'é+ü',
  '^a.c\\.d$',
])('text generated from %s matches it', (pattern) => {
  fc.assert(
    fc.property(fc.string(), (seed) => {
      expect(textFromPattern(pattern, createRandomFromText(seed), ANY_LENGTH)).toMatch(
        new RegExp(pattern, 'u'),
      )
    }),
  )
})

test('a longer or shorter match is generated if the length requires it', () => {
  const long = textFromPattern('^[ab]+$', createRandomFromText(''), { lengthMin: 20, lengthMax: 30 })
  expect(long).toMatch(/^[ab]{20,30}$/)
  expect(textFromPattern('^[ab]{5}$', createRandomFromText(''), { lengthMin: 6, lengthMax: 9 })).toBeNull()
})

test.for(['(?=a)b', '(a)\\1', '\\p{L}', '[a-', '(', 'a{2', '*', '\\', '[^\\W]'])(
  '%s is not supported',
  (pattern) => {
    expect(textFromPattern(pattern, createRandomFromText(''), ANY_LENGTH)).toBeNull()
  },
)

test('hostile expressions are answered in bounded time', () => {
  const nestedNothing = `${'('.repeat(14)}${'){64}'.repeat(14)}`
  expect(textFromPattern(nestedNothing, createRandomFromText(''), ANY_LENGTH)).toBeNull()
  const nestedRepeats = `${'('.repeat(14)}a${'){1000}'.repeat(14)}`
  expect(textFromPattern(nestedRepeats, createRandomFromText(''), ANY_LENGTH)).toBeNull()
  expect(textFromPattern('('.repeat(100_000), createRandomFromText(''), ANY_LENGTH)).toBeNull()
})

test('no expression takes more steps than the limit, however it is written', () => {
  const atom = fc.constantFrom(
    'a',
    '.',
    '[a-ÿ]',
    '[^\\u0100-\\u01ff]',
    '(',
    ')',
    '|',
    '{1000}',
    '{0,999}',
    '*',
    '+?',
    '\\w',
    '[\u0100-\u0fff]',
  )
  const pattern = fc
    .tuple(fc.array(atom, { maxLength: 12 }), fc.nat(400))
    .map(([atoms, times]) => atoms.join('').repeat(times).slice(0, 4096))
  fc.assert(
    fc.property(pattern, fc.nat(5000), fc.nat(5000), (source, lengthMin, lengthMax) => {
      const budget = createWorkBudget()
      textFromPattern(source, createRandomFromText(''), { lengthMin, lengthMax }, budget)
      // The work of one step is limited too; the last step may exceed the budget by one character class.
      expect(budget.stepsLeft).toBeGreaterThan(-5_000)
    }),
    { numRuns: 300 },
  )
})

test('a character class of a kilobyte is parsed once, not for every generated character', () => {
  const budget = createWorkBudget()
  const made = textFromPattern(`^[${'a-ÿ'.repeat(250)}]{1000}$`, createRandomFromText(''), ANY_LENGTH, budget)
  expect(made).toHaveLength(1000)
  expect(createWorkBudget().stepsLeft - budget.stepsLeft).toBeLessThan(50_000)
})
