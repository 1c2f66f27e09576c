import { AppError } from '../../kernel/app-error.ts'
import { findRepeatedMember } from '../../kernel/json/find-repeated-member.ts'
import { JsonExcess, parseJson } from '../../kernel/json/parse-json.ts'
import {
  AT_ONCE_LENGTH_MAX,
  parseJsonInTurns,
  type CheckText,
} from '../../kernel/json/parse-json-in-turns.ts'
import { isStorable, isStorableJson } from '../../kernel/storable-text.ts'

export function isLargeText(text: string): boolean {
  return text.length > AT_ONCE_LENGTH_MAX
}

/** Parses a body. An empty body becomes an empty object, and the validation names missing members. */
export function parseBody(text: string): unknown {
  if (text === '') return {}
  try {
    return parseJson(text)
  } catch (error) {
    throw invalidBody(error)
  }
}

/** A large body, parsed in turns. */
export interface LargeBody {
  readonly value: unknown
  /** An upper estimate of the memory that the value takes besides its text. */
  readonly memoryBytes: number
  /** A member that occurs twice in one object. */
  readonly repeatedMember: string | null
}

export async function parseLargeBody(text: string): Promise<LargeBody> {
  return parseJsonInTurns(text).catch((error: unknown) => {
    throw invalidBody(error)
  })
}

/** Parses a large body whose content may be stored in the database. */
export async function parseLargeStorableBody(text: string): Promise<LargeBody> {
  const check: CheckText = (part, path) => {
    if (!isStorable(part)) throw notStorableAt(path())
  }
  return parseJsonInTurns(text, { checkText: check }).catch((error: unknown) => {
    throw error instanceof AppError ? error : invalidBody(error)
  })
}

function invalidBody(error: unknown): AppError {
  const message = error instanceof JsonExcess ? `The body ${error.predicate}.` : 'The body is not valid JSON.'
  return new AppError('invalid_json', message, { cause: error })
}

/** Throws if a member occurs twice in one object of a valid body. Used where the text is passed on, because parsers disagree. */
export function requireSingleMembers(text: string): void {
  refuseRepeated(findRepeatedMember(text))
}

export function refuseRepeated(name: string | null): void {
  if (name === null) return
  const shown = name.slice(0, PARAM_LENGTH_MAX)
  throw new AppError('invalid_json', `The member '${shown}' occurs twice in one object.`, { param: shown })
}

/** Parses a body whose content may be stored in the database. */
export function parseStorableBody(text: string): unknown {
  const body = parseBody(text)
  if (isStorableJson(text)) return body
  throw notStorableAt(findUnstorable(body) ?? [])
}

function notStorableAt(path: readonly string[]): AppError {
  const param = path.join('.').slice(0, PARAM_LENGTH_MAX)
  return param === '' ? notStorable('The body') : notStorable(`'${param}'`, param)
}

const PARAM_LENGTH_MAX = 256

/** Returns the path to a text that cannot be stored. The recursion is bounded by the depth limit of the JSON parser. */
function findUnstorable(value: unknown): string[] | null {
  if (typeof value === 'string') return isStorable(value) ? null : []
  if (typeof value !== 'object' || value === null) return null
  for (const [name, member] of Object.entries(value)) {
    if (!isStorable(name)) return []
    const path = findUnstorable(member)
    if (path !== null) return [name, ...path]
  }
  return null
}

/** Throws if a parameter of the path, the query or a form cannot be stored. */
export function requireStorable(param: string, text: string): void {
  if (!isStorable(text)) throw notStorable(`'${param}'`, param)
}

function notStorable(what: string, param?: string): AppError {
  const message = `${what} holds the character U+0000 or half of a surrogate pair, which cannot be stored.`
  return new AppError('invalid_value', message, param === undefined ? {} : { param })
}
