import { AppError } from '../../kernel/app-error.ts'
import { requireStorable } from './parse-body.ts'

const FIELDS_MAX = 50

/**
 * Parses the body of an HTML form or of OAuth. A field that occurs twice is refused, because readers disagree about which one counts, and
 * one without a value counts as absent.
 */
export function parseUrlEncoded(text: string): Readonly<Record<string, string>> {
  const fields = new Map<string, string>()
  let count = 0
  for (const [name, value] of new URLSearchParams(text)) {
    count += 1
    if (count > FIELDS_MAX)
      throw new AppError('invalid_request', `The body has more than ${FIELDS_MAX} fields.`)
    requireStorable('body', name)
    requireStorable(name, value)
    if (fields.has(name))
      throw new AppError('invalid_request', 'The body has a field twice.', { param: name })
    fields.set(name, value)
  }
  return Object.fromEntries([...fields].filter(([, value]) => value !== ''))
}
