import type { TSchema } from 'typebox'
import { AppError } from '../../kernel/app-error.ts'
import { foldName } from '../../kernel/fold-name.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { isOrdinaryValue } from '../../providers/requests/billed-members.ts'
import { PROTECTIVE_MEMBERS } from '../../providers/requests/protective-members.ts'

/**
 * Compiles a check that refuses safety-related members that the schema does not support, because ignoring them would be unsafe.
 */
export function compileUnhonoured(schema: TSchema): (body: unknown) => void {
  const { properties = {} }: { properties?: Record<string, TSchema> } = schema
  const names = PROTECTIVE_MEMBERS.filter((name) => !Object.hasOwn(properties, name))
  return (body) => {
    if (isRecord(body)) refuseUnhonoured(body, names)
  }
}

/**
 * Does the same for an object inside a body, with all safety-related members by default. A name in capital letters is not honoured
 * anywhere, but is meant just as seriously.
 */
export function refuseUnhonoured(
  members: Readonly<Record<string, unknown>>,
  names: readonly string[] = PROTECTIVE_MEMBERS,
  place = '',
): void {
  for (const name of Object.keys(members)) {
    const folded = foldName(name)
    if (!names.includes(folded) && (folded === name || !PROTECTIVE_MEMBERS.includes(folded))) continue
    if (isOrdinaryValue(folded, members[name])) continue
    const param = `${place}${name}`
    throw new AppError('unsupported_parameter', `'${param}' would not be honoured here.`, { param })
  }
}
