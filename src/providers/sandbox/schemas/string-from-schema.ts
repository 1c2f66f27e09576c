import type { JsonSchema } from './resolve-schema.ts'
import type { SeededRandom } from '../../../kernel/seeded-random.ts'
import { textFromPattern } from './text-from-pattern.ts'
import { WORDS } from '../answer/words.ts'
import type { WorkBudget } from '../work-budget.ts'

const LENGTH_MAX = 10_000
const USUAL_LENGTH_MAX = 4000

export interface StringOptions {
  readonly propertyName: string
  readonly random: SeededRandom
  readonly suggestions: readonly unknown[]
  readonly budget: WorkBudget
}

/** Returns a text that fits the schema's format, pattern or length, preferably a suggested one. */
export function stringFromSchema(schema: JsonSchema, options: StringOptions): string {
  const { propertyName, random, suggestions, budget } = options
  const { format, pattern, minLength, maxLength } = schema
  const lengthMin = typeof minLength === 'number' ? Math.min(minLength, LENGTH_MAX) : 0
  const lengthMax = typeof maxLength === 'number' ? maxLength : USUAL_LENGTH_MAX

  if (typeof pattern === 'string') {
    const matching = textFromPattern(pattern, random, { lengthMin, lengthMax, budget })
    if (matching !== null) return matching
  }
  const formatted = typeof format === 'string' ? FORMATS.get(format)?.(random) : undefined
  if (formatted !== undefined) return formatted

  const suggested =
    typeof pattern === 'string'
      ? undefined
      : suggestions.find(
          (value) => typeof value === 'string' && hasLength(value, lengthMin, lengthMax, budget),
        )
  if (typeof suggested === 'string') return suggested
  return fitLength(plausibleText(propertyName, random), lengthMin, lengthMax, random)
}

/** Counts code points only if the number of UTF-16 units does not decide: a code point has one or two units. */
function hasLength(text: string, lengthMin: number, lengthMax: number, budget: WorkBudget): boolean {
  if (text.length < lengthMin || text.length > 2 * lengthMax) return false
  if (text.length >= 2 * lengthMin && text.length <= lengthMax) return true
  budget.stepsLeft -= text.length
  const { length } = Array.from(text)
  return length >= lengthMin && length <= lengthMax
}

const FORMATS = new Map(
  Object.entries<(random: SeededRandom) => string>({
    'date-time': (random) => `${makeDate(random)}T${makeTime(random)}Z`,
    date: makeDate,
    time: (random) => `${makeTime(random)}Z`,
    duration: (random) => `PT${1 + random.below(59)}M`,
    email: (random) => `${random.pick(WORDS)}.${random.pick(WORDS)}@example.com`,
    hostname: (random) => `${random.pick(WORDS)}.example.com`,
    ipv4: (random) => `192.0.2.${1 + random.below(254)}`,
    ipv6: (random) => `2001:db8::${random.hex(3)}1`,
    uri: (random) => `https://example.com/${random.pick(WORDS)}`,
    url: (random) => `https://example.com/${random.pick(WORDS)}`,
    uuid: (random) => {
      const hex = random.hex(32)
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
    },
  }),
)

function makeDate(random: SeededRandom): string {
  const month = String(1 + random.below(12)).padStart(2, '0')
  return `2026-${month}-${String(1 + random.below(28)).padStart(2, '0')}`
}

function makeTime(random: SeededRandom): string {
  const pad = (value: number): string => String(value).padStart(2, '0')
  return `${pad(random.below(24))}:${pad(random.below(60))}:${pad(random.below(60))}`
}

const NAMED_TEXTS: readonly [RegExp, readonly [string, ...string[]]][] = [
  [/(^|_)(first_?)?name$/i, ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Katherine Johnson']],
  [/city|location|place/i, ['Lisbon', 'Nairobi', 'Kyoto', 'Montreal']],
  [/country/i, ['Portugal', 'Kenya', 'Japan', 'Canada']],
  [/currency/i, ['EUR', 'USD', 'JPY', 'CAD']],
  [/unit/i, ['celsius', 'metric']],
  [/colou?r/i, ['amber', 'teal', 'indigo']],
  [/date|day/i, ['2026-03-14', '2026-07-01']],
  [/url|link/i, ['https://example.com/sandbox']],
  [/mail/i, ['sandbox@example.com']],
]

const NAME_LENGTH_MAX = 200

function plausibleText(propertyName: string, random: SeededRandom): string {
  const name = propertyName.slice(0, NAME_LENGTH_MAX)
  const named = NAMED_TEXTS.find(([pattern]) => pattern.test(name))
  if (named) return random.pick(named[1])
  return `${random.pick(WORDS)} ${random.pick(WORDS)} ${random.pick(WORDS)}`
}

function fitLength(text: string, lengthMin: number, lengthMax: number, random: SeededRandom): string {
  let fitting = text
  while (fitting.length < lengthMin) fitting += ` ${random.pick(WORDS)}`
  return fitting.length > lengthMax ? fitting.slice(0, Math.max(lengthMax, lengthMin)) : fitting
}
