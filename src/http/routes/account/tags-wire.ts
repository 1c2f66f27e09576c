import { Type } from 'typebox'
import { tagsOf } from '../../../modules/keys/keys.ts'

/** The tags of a request. Absent without any, as before there were tags. */
export const tagsField = {
  tags: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'The tags of the request. Absent without any.',
    }),
  ),
}

export function tagsToWire(labels: readonly string[]): { tags?: Record<string, string> } {
  const tags = tagsOf(labels)
  return tags.size === 0 ? {} : { tags: Object.fromEntries(tags) }
}
