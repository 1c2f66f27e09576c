import { invalidValue } from '../../../kernel/app-error.ts'
import { isTagName, isTagValue, TAG_FORM, TAGS_MAX, type Tags } from './tags.ts'

/** What a key or a project says about the tags of its requests. */
export interface TagSettings {
  /** Names that a request must have. Null for none. */
  readonly requiredTags: readonly string[] | null
  /** Tags that every request has, whatever it says itself. Null for none. */
  readonly fixedTags: Readonly<Record<string, string>> | null
}

/** The rules for requests with a key, of the key, its parent key and its project together. */
export interface TagRules {
  readonly required: readonly string[]
  readonly fixed: Tags
}

/** The first of them win: whoever makes keys must not change what their project fixes. Null if there are none. */
export function combineTagRules(all: readonly TagSettings[]): TagRules | null {
  const fixed = new Map(all.toReversed().flatMap(({ fixedTags }) => Object.entries(fixedTags ?? {})))
  const required = new Set(all.flatMap(({ requiredTags }) => requiredTags ?? []))
  const open = [...required].filter((name) => !fixed.has(name))
  return fixed.size === 0 && open.length === 0 ? null : { required: open, fixed }
}

/** Throws unless they are tags. */
export function checkTagSettings({ requiredTags, fixedTags }: Partial<TagSettings>): void {
  if (requiredTags && (requiredTags.length > TAGS_MAX || !requiredTags.every(isTagName)))
    throw invalidValue('required_tags', `required_tags has names of tags: ${TAG_FORM}`)
  const fixed = Object.entries(fixedTags ?? {})
  if (fixed.length > TAGS_MAX || !fixed.every(([name, value]) => isTagName(name) && isTagValue(value)))
    throw invalidValue('fixed_tags', `fixed_tags has tags: ${TAG_FORM}`)
}

/** Whether requests under the given settings have at least what the held ones demand and fix. */
export function keepsTags(held: TagSettings, given: TagSettings): boolean {
  const fixed = Object.entries(held.fixedTags ?? {})
  const demanded = new Set([...(given.requiredTags ?? []), ...Object.keys(given.fixedTags ?? {})])
  return (
    fixed.every(([name, value]) => given.fixedTags?.[name] === value) &&
    (held.requiredTags ?? []).every((name) => demanded.has(name))
  )
}
