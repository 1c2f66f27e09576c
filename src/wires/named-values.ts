import { Type, type TSchema } from 'typebox'

interface Names {
  readonly count: number
  readonly length: number
  readonly description?: string
}

/**
 * An object with names that the client chooses. The pattern also matches names with line breaks, which the default pattern would
 * leave unchecked.
 */
export function namedValues<Schema extends TSchema>(value: Schema, { count, length, ...rest }: Names) {
  return Type.Record(Type.String({ pattern: String.raw`^[\s\S]*$` }), value, {
    maxProperties: count,
    propertyNames: { maxLength: length },
    ...rest,
  })
}
