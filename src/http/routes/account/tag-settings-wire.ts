import { Type } from 'typebox'
import type { TagSettings } from '../../../modules/keys/keys.ts'
import { namedValues } from '../../../wires/named-values.ts'
import { orNull } from '../../../wires/nullable.ts'

const RequiredTags = orNull(
  Type.Array(Type.String({ maxLength: 64 }), { maxItems: 10 }),
  'Names of tags that each request must have. Without one it is refused with `missing_tags`.',
)
const FixedTags = orNull(
  namedValues(Type.String({ maxLength: 128 }), {
    count: 10,
    length: 64,
    description: 'Tags by name.',
  }),
  'Tags that each request has. They replace what the request says.',
)

/** Of requests with a key, or of a project. */
export const tagSettings = {
  required_tags: Type.Optional(RequiredTags),
  fixed_tags: Type.Optional(FixedTags),
}

interface WireTagSettings {
  readonly required_tags?: readonly string[] | null
  readonly fixed_tags?: Readonly<Record<string, string>> | null
}

/** Absent members stay absent. An empty list or object is none. */
export function parseTagSettings({ required_tags, fixed_tags }: WireTagSettings): Partial<TagSettings> {
  return {
    ...(required_tags !== undefined && {
      requiredTags: required_tags === null || required_tags.length === 0 ? null : [...new Set(required_tags)],
    }),
    ...(fixed_tags !== undefined && {
      fixedTags: fixed_tags === null || Object.keys(fixed_tags).length === 0 ? null : { ...fixed_tags },
    }),
  }
}

/** Absent if nothing is set, as before there were tags. */
export function tagSettingsToWire({ requiredTags, fixedTags }: TagSettings): {
  required_tags?: string[]
  fixed_tags?: Record<string, string>
} {
  return {
    ...(requiredTags !== null && { required_tags: [...requiredTags] }),
    ...(fixedTags !== null && { fixed_tags: { ...fixedTags } }),
  }
}
