import { Type, type TSchema } from 'typebox'

/** An optional member that may also be null: OpenAI clients send null for what they leave out. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Optional(Type.Union([schema, Type.Null()]))
}
