import type { TSchema } from 'typebox'

/**
 * Gives a schema that several members share a description for one of them. It accepts the same values. The reference reads
 * `~describes`, so that a named schema stays one component to which each member refers with its own description.
 */
export function described<Schema extends TSchema>(schema: Schema, description: string): Schema {
  return Object.defineProperties(
    { ...schema },
    {
      // The kind of a schema and whether it is optional are in members that are not enumerable.
      ...Object.getOwnPropertyDescriptors(schema),
      description: { value: description, enumerable: true, configurable: true },
      '~describes': { value: schema, configurable: true },
    },
  )
}
