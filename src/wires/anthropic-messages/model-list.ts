import { Type } from 'typebox'
import { invalidValue } from '../../kernel/app-error.ts'
import { Id, partType } from '../usual-members.ts'

export const AnthropicModel = Type.Object({
  type: partType('model'),
  id: Id,
  display_name: Type.String({ description: 'The name for people.' }),
  created_at: Type.String({ format: 'date-time', description: 'When the vendor released it.' }),
})

/** One page of Anthropic's model list. */
export const AnthropicModelList = Type.Object({
  data: Type.Array(AnthropicModel, {
    description: 'The models of this page.',
  }),
  has_more: Type.Boolean({ description: 'Whether another page follows.' }),
  first_id: Type.Union([Type.String(), Type.Null()], { description: 'Of this page.' }),
  last_id: Type.Union([Type.String(), Type.Null()], { description: 'Of this page; `after_id` of the next.' }),
})

export const AnthropicModelQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'How many; 20 unless told. In the form of Anthropic only.',
    }),
  ),
  after_id: Type.Optional(
    Type.String({ description: 'The page behind this model. In the form of Anthropic only.' }),
  ),
  before_id: Type.Optional(
    Type.String({ description: 'The page before this model. In the form of Anthropic only.' }),
  ),
}

interface ListedModel {
  readonly id: string
  readonly displayName: string
  readonly createdAt: Date
}

export function toAnthropicModel({ id, displayName, createdAt }: ListedModel): object {
  return { type: 'model', id, display_name: displayName, created_at: createdAt.toISOString() }
}

interface PageQuery {
  readonly limit?: number
  readonly after_id?: string
  readonly before_id?: string
}

const LIMIT_DEFAULT = 20

export function listAnthropicModels(
  models: readonly ListedModel[],
  { limit = LIMIT_DEFAULT, after_id: afterId, before_id: beforeId }: PageQuery,
): object {
  const indexOf = (name: string, id: string): number => {
    const index = models.findIndex((model) => model.id === id)
    if (index === -1) throw invalidValue(name, `${name} must be the id of a model of the list.`)
    return index
  }
  const beforeIndex = beforeId === undefined ? -1 : indexOf('before_id', beforeId)
  const isBackwards = beforeIndex !== -1
  const start = isBackwards
    ? Math.max(0, beforeIndex - limit)
    : afterId === undefined
      ? 0
      : indexOf('after_id', afterId) + 1
  const end = isBackwards ? beforeIndex : start + limit
  const page = models.slice(start, end)
  return {
    data: page.map(toAnthropicModel),
    has_more: isBackwards ? start > 0 : end < models.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  }
}
