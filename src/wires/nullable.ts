import { Type, type TSchema } from 'typebox'

/** An optional member that may also be null: OpenAI clients send null for what they leave out. */
export function nullable<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Optional(orNull(schema, description))
}

/** A member that is always there and may be null. */
export function orNull<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
}
