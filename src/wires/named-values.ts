import { Type, type TSchema } from 'typebox'

interface Names {
  readonly count: number
  readonly length: number
  readonly description?: string
}

/** An object whose names a client chooses. The pattern takes names with line ends too, which the usual one does not look at. */
export function namedValues<Schema extends TSchema>(value: Schema, { count, length, ...rest }: Names) {
  return Type.Record(Type.String({ pattern: String.raw`^[\s\S]*$` }), value, {
    maxProperties: count,
    propertyNames: { maxLength: length },
    ...rest,
  })
}
