import { AppError } from '../../kernel/app-error.ts'
import { JsonTooDeep, JSON_DEPTH_MAX, parseJson } from '../../kernel/parse-json.ts'
import { isStorable, isStorableJson } from '../../kernel/storable-text.ts'

/** Parses a body. An empty body becomes an empty object, and the validation names missing members. */
export function parseBody(text: string): unknown {
  if (text === '') return {}
  try {
    return parseJson(text)
  } catch (error) {
    const message =
      error instanceof JsonTooDeep
        ? `The body is nested deeper than ${JSON_DEPTH_MAX} levels.`
        : 'The body is not valid JSON.'
    throw new AppError('invalid_json', message, { cause: error })
  }
}

/** Parses a body whose content may be stored in the database. */
export function parseStorableBody(text: string): unknown {
  const body = parseBody(text)
  if (isStorableJson(text)) return body
  const param = (findUnstorable(body) ?? []).join('.').slice(0, PARAM_LENGTH_MAX)
  throw param === '' ? notStorable('The body') : notStorable(`'${param}'`, param)
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
