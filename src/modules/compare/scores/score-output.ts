import { invalidValue } from '../../../kernel/app-error.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import { compareInThread } from './compare-in-thread.ts'
import { compareOutput, type Comparison } from './compare-output.ts'

const MATCH_TYPES = ['exact', 'contains', 'regex', 'json', 'judge'] as const
type MatchType = (typeof MATCH_TYPES)[number]

/** How an answer is compared with what was expected. */
interface Expectation {
  readonly type: MatchType
  readonly value: unknown
  readonly flags: string
}

const PATTERN_LENGTH_MAX = 1_000
const FLAGS = /^[imsu]*$/

/** A string means an exact match, an object with `type` and `value` names its comparison, anything else is compared as JSON. */
function readExpectation(expected: unknown): Expectation | null {
  if (expected === null || expected === undefined) return null
  if (typeof expected === 'string') return { type: 'exact', value: expected, flags: '' }
  if (isRecord(expected) && 'value' in expected) {
    const type = MATCH_TYPES.find((known) => known === expected['type'])
    const { value, flags } = expected
    if (type !== undefined) return { type, value, flags: typeof flags === 'string' ? flags : '' }
  }
  return { type: 'json', value: expected, flags: '' }
}

/** Refuses expectations that can never be compared. */
export function checkExpected(expected: unknown, param: string): void {
  const expectation = readExpectation(expected)
  if (expectation === null || expectation.type === 'json') return
  const { type, value, flags } = expectation
  if (typeof value !== 'string')
    throw invalidValue(`${param}.value`, `'${param}.value' must be a string for the type ${type}.`)
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

/** Longer answers are compared in a thread. */
const OUTPUT_LENGTH_HERE_MAX = 16_384

/** 1 for a match, 0 otherwise, null if it cannot be decided or a judge decides. */
export async function scoreOutput(
  expected: unknown,
  output: string,
  accountId: string,
): Promise<number | null> {
  const expectation = readExpectation(expected)
  if (expectation === null || expectation.type === 'judge') return null
  const { type, value, flags } = expectation
  const comparison: Comparison =
    type === 'regex'
      ? { type, value: String(value), flags, output }
      : { type, value: type === 'json' ? stringifyJson(value) : String(value), output }
  const isShort = output.length <= OUTPUT_LENGTH_HERE_MAX && comparison.value.length <= OUTPUT_LENGTH_HERE_MAX
  const isMatch =
    type !== 'regex' && isShort ? compareOutput(comparison) : await compareInThread(comparison, accountId)
  return isMatch === null ? null : Number(isMatch)
}
