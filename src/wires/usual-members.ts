import { Type } from 'typebox'

/** Members that mean the same in many requests and answers, each with its description. */

export const Id = Type.String({ description: 'The id of this object.' })
export const UuidId = Type.String({ format: 'uuid', description: 'The id of this object.' })
export const AccountId = Type.String({ format: 'uuid', description: 'The id of the account.' })
export const ModelId = Type.String({ description: 'The id of the model.' })

export const CreatedAt = Type.String({ format: 'date-time', description: 'When it was made.' })
export const UpdatedAt = Type.String({ format: 'date-time', description: 'When it last changed.' })

export const CostUsd = Type.Number({ description: 'What it cost, in US dollars.' })

/** The member `object` of an answer. */
export function objectName<const Name extends string>(name: Name) {
  return Type.Literal(name, { description: 'What kind of object this is.' })
}

/** The member `type` of a part of a message: it says which member of the union the part is. */
export function partType<const Name extends string>(name: Name) {
  return Type.Literal(name, { description: 'The kind of this part.' })
}
