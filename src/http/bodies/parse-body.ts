import { AppError } from '../../kernel/app-error.ts'
import { JsonTooDeep, JSON_DEPTH_MAX, parseJson } from '../../kernel/parse-json.ts'
import { isStorable, isStorableJson } from '../../kernel/storable-text.ts'

/** A missing body is an empty object: routes that need members say which. */
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

/** The body of a route that keeps what it is given. */
export function parseStorableBody(text: string): unknown {
  const body = parseBody(text)
  if (isStorableJson(text)) return body
  const param = (findUnstorable(body) ?? []).join('.').slice(0, PARAM_LENGTH_MAX)
  throw param === '' ? notStorable('The body') : notStorable(`'${param}'`, param)
}

const PARAM_LENGTH_MAX = 256

/** The path to a text that cannot be stored. The depth is limited by the JSON parser's limit. */
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

/** Of what came as plain text: parameters of the path and the query, fields of a form. */
export function requireStorable(param: string, text: string): void {
  if (!isStorable(text)) throw notStorable(`'${param}'`, param)
}

function notStorable(what: string, param?: string): AppError {
  const message = `${what} holds the character U+0000 or half of a surrogate pair, which cannot be stored.`
  return new AppError('invalid_value', message, param === undefined ? {} : { param })
}
