import { isDeepStrictEqual } from 'node:util'
import { runInContext, createContext, type Context } from 'node:vm'
import { invalidValue } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'

const MATCH_TYPES = ['exact', 'contains', 'regex', 'json', 'judge'] as const
type MatchType = (typeof MATCH_TYPES)[number]

/** How an answer is compared with what was expected. */
export interface Expectation {
  readonly type: MatchType
  readonly value: unknown
  readonly flags: string
}

const PATTERN_LENGTH_MAX = 1_000
/** A pattern that goes back and forth for longer is given up: it would keep everybody else waiting. */
const PATTERN_MS_MAX = 10
const FLAGS = /^[imsu]*$/

/** A text is expected exactly, anything else as JSON; an object with a type and a value says so itself. */
export function readExpectation(expected: unknown): Expectation | null {
  if (expected === null || expected === undefined) return null
  if (typeof expected === 'string') return { type: 'exact', value: expected, flags: '' }
  if (isRecord(expected) && 'value' in expected) {
    const type = MATCH_TYPES.find((known) => known === expected['type'])
    const { value, flags } = expected
    if (type !== undefined) return { type, value, flags: typeof flags === 'string' ? flags : '' }
  }
  return { type: 'json', value: expected, flags: '' }
}

/** Refuses at once what could never be compared. */
export function checkExpected(expected: unknown, param: string): void {
  const expectation = readExpectation(expected)
  if (expectation === null || expectation.type === 'json') return
  const { type, value, flags } = expectation
  if (typeof value !== 'string')
    throw invalidValue(`${param}.value`, `'${param}.value' must be of type string for the type ${type}.`)
  if (type !== 'regex') return
  if (value.length > PATTERN_LENGTH_MAX)
    throw invalidValue(`${param}.value`, `A pattern has ${PATTERN_LENGTH_MAX} characters at most.`)
  if (!FLAGS.test(flags)) throw invalidValue(`${param}.flags`, 'The flags of a pattern are of i, m, s and u.')
  try {
    void new RegExp(value, flags)
  } catch {
    throw invalidValue(`${param}.value`, `'${param}.value' is not a regular expression.`)
  }
}

/** 1 for what was expected and 0 for anything else; null where nobody can say, or a judge has to. */
export function scoreOutput(expected: unknown, output: string): number | null {
  const expectation = readExpectation(expected)
  if (expectation === null) return null
  return COMPARISONS[expectation.type](expectation, output)
}

const COMPARISONS: Readonly<Record<MatchType, (expectation: Expectation, output: string) => number | null>> =
  {
    exact: ({ value }, output) => Number(output.trim() === String(value).trim()),
    contains: ({ value }, output) => Number(output.toLowerCase().includes(String(value).toLowerCase())),
    regex: ({ value, flags }, output) => matchPattern(String(value), flags, output),
    json: ({ value }, output) => Number(isSameJson(value, output)),
    judge: () => null,
  }

let context: Context | null = null

// In a context of its own, because only there can a pattern be stopped in the middle.
function matchPattern(pattern: string, flags: string, text: string): number | null {
  context ??= createContext({ pattern: '', flags: '', text: '' })
  Object.assign(context, { pattern, flags, text })
  try {
    const isFound: unknown = runInContext('new RegExp(pattern, flags).test(text)', context, {
      timeout: PATTERN_MS_MAX,
    })
    return Number(isFound === true)
  } catch {
    return null
  } finally {
    Object.assign(context, { text: '' })
  }
}

/** Models wrap JSON in a fenced block although nobody asked them to. */
const FENCED = /^```(?:json)?\s*\n([^]*?)\n?```$/

function isSameJson(expected: unknown, output: string): boolean {
  const text = output.trim()
  try {
    return isDeepStrictEqual(JSON.parse(FENCED.exec(text)?.[1] ?? text), expected)
  } catch {
    return false
  }
}
