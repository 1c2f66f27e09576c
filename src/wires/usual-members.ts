import { Type } from 'typebox'

/** Members that mean the same in many requests and answers, each with its description. */

export const Id = Type.String({ description: 'The id of this object.' })
export const UuidId = Type.String({ format: 'uuid', description: 'The id of this object.' })
export const AccountId = Type.String({ format: 'uuid', description: 'The id of the account.' })
export const ModelId = Type.String({ description: 'The id of the model.' })

export const CreatedAt = Type.String({ format: 'date-time', description: 'When it was made.' })
export const UpdatedAt = Type.String({ format: 'date-time', description: 'When it last changed.' })

export const CostUsd = Type.Number({ description: 'What it cost, in US dollars.' })

/** What no text for other people's eyes holds: control characters, and those that change the direction of the text after them. */
const UNSEEN = '\\u007f-\\u009f\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069'

/** The pattern of a text of one line. */
export const SHOWN_LINE = `^[^\\u0000-\\u001f${UNSEEN}]*$`
/** The pattern of a text that may have several lines. */
export const SHOWN_LINES = `^[^\\u0000-\\u0009\\u000b-\\u001f${UNSEEN}]*$`

/** The member `object` of an answer. */
export function objectName<const Name extends string>(name: Name) {
  return Type.Literal(name, { description: 'What kind of object this is.' })
}

/** The member `type` of a part of a message: it says which member of the union the part is. */
export function partType<const Name extends string>(name: Name) {
  return Type.Literal(name, { description: 'The kind of this part.' })
}
