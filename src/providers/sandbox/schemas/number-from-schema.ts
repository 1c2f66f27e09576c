import type { JsonSchema } from './resolve-schema.ts'
import type { SeededRandom } from '../../../kernel/seeded-random.ts'

const USUAL_SPAN = 100
const STEPS_TRIED_MAX = 64

/** Returns a number within the schema's bounds, preferably a suggested one. */
export function numberFromSchema(
  schema: JsonSchema,
  isInteger: boolean,
  random: SeededRandom,
  suggestions: readonly unknown[],
): number {
  const bounds = readBounds(schema)
  const step =
    typeof schema['multipleOf'] === 'number' && schema['multipleOf'] > 0 ? schema['multipleOf'] : null
  const isAllowed = (value: number): boolean =>
    value >= bounds.min &&
    value <= bounds.max &&
    value !== bounds.notMin &&
    value !== bounds.notMax &&
    (!isInteger || Number.isInteger(value)) &&
    (step === null || isMultiple(value, step))

  const suggested = suggestions.find((value) => typeof value === 'number' && isAllowed(value))
  if (typeof suggested === 'number') return suggested

  const { low, high } = chooseRange(bounds, (step ?? 1) * USUAL_SPAN)
  for (const candidate of listCandidates({ low, high, step: step ?? 1, random })) {
    if (isAllowed(candidate)) return candidate
  }
  const middle = low + (high - low) / 2
  return isInteger ? Math.round(middle) : middle
}

/**
 * Returns the range from zero to `span`, or the nearest to it within the bounds. Many schemas only state the range of a machine
 * type.
 */
function chooseRange({ min, max }: Bounds, span: number): { low: number; high: number } {
  if (max <= 0) return { low: Math.max(min, max - span), high: max }
  const low = Math.max(min, 0)
  return { low, high: Math.min(max, low + span) }
}

function* listCandidates(range: {
  low: number
  high: number
  step: number
  random: SeededRandom
}): Generator<number> {
  const { low, high, step, random } = range
  const first = Math.ceil(low / step)
  const count = Math.max(1, Math.min(Math.floor(high / step) - first + 1, 1_000_000))
  const offset = random.below(count)
  for (let tried = 0; tried < Math.min(count, STEPS_TRIED_MAX); tried += 1) {
    yield multiply(first + ((offset + tried) % count), step)
  }
}

// 3 × 0.1 is 0.30000000000000004, which no validator accepts as a multiple of 0.1.
function multiply(count: number, step: number): number {
  return Number.isInteger(step) ? count * step : Number((count * step).toPrecision(12))
}

function isMultiple(value: number, step: number): boolean {
  return Number.isInteger(value / step)
}

interface Bounds {
  readonly min: number
  readonly max: number
  /** Exclusive bounds. */
  readonly notMin: number | null
  readonly notMax: number | null
}

function readBounds(schema: JsonSchema): Bounds {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const min = typeof minimum === 'number' ? minimum : -Infinity
  const max = typeof maximum === 'number' ? maximum : Infinity
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum : -Infinity
  const below = typeof exclusiveMaximum === 'number' ? exclusiveMaximum : Infinity
  return {
    min: Math.max(min, above),
    max: Math.min(max, below),
    // In older drafts the keyword is a boolean next to the bound.
    notMin: above >= min && above !== -Infinity ? above : exclusiveMinimum === true ? min : null,
    notMax: below <= max && below !== Infinity ? below : exclusiveMaximum === true ? max : null,
  }
}
