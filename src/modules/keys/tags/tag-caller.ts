import { AppError } from '../../../kernel/app-error.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type { Caller } from '../authenticate/caller.ts'
import { labelOfTag, parseTagsHeader, readMetadata, TAGS_HEADER, TAGS_MAX, type Tags } from './tags.ts'

/** What a request says about its tags. */
interface Tagged {
  readonly header: string | string[] | undefined
  /** Its `metadata` are tags too. */
  readonly body: unknown
}

/**
 * The caller of one request, whose charges have its tags. Nearly no request has any: the caller is then the same object. Throws for a
 * header that is invalid, and if a tag is missing that the key or its project demands.
 */
export function tagCaller(caller: Caller, { header, body }: Tagged): Caller {
  const metadata = isRecord(body) ? body['metadata'] : undefined
  const hasMetadata = metadata !== undefined && metadata !== null
  if (header === undefined && !hasMetadata) {
    requireTags(caller, NO_TAGS)
    return caller
  }
  const text = typeof header === 'string' ? header : (header?.join(',') ?? '')
  if (!hasMetadata) return tagByHeader(caller, text)
  const tags = new Map(parseTagsHeader(text))
  for (const [name, value] of readMetadata(metadata))
    if (tags.size < TAGS_MAX && !tags.has(name)) tags.set(name, value)
  return withTags(caller, tags)
}

const NO_TAGS: Tags = new Map()

/** The last headers of each caller, since clients send the same again and again. */
const known = new WeakMap<Caller, Map<string, Caller>>()
const KNOWN_MAX = 100

function tagByHeader(caller: Caller, header: string): Caller {
  const ofCaller = known.get(caller) ?? new Map<string, Caller>()
  const found = ofCaller.get(header)
  if (found !== undefined) return found
  const tagged = withTags(caller, parseTagsHeader(header))
  if (ofCaller.size >= KNOWN_MAX) ofCaller.clear()
  ofCaller.set(header, tagged)
  known.set(caller, ofCaller)
  return tagged
}

function withTags(caller: Caller, tags: Tags): Caller {
  requireTags(caller, tags)
  if (tags.size === 0) return caller
  const all = new Map([...tags, ...(caller.tagRules?.fixed ?? [])])
  return { ...caller, labels: listLabels(caller.groupIds, all) }
}

/** In one order, so that charges with the same labels are added up together. */
export function listLabels(groupIds: readonly string[], tags: Tags): string[] {
  const names = [...tags.keys()].toSorted()
  return [
    ...groupIds.map((id) => `group:${id}`),
    ...names.map((name) => labelOfTag(name, tags.get(name) ?? '')),
  ]
}

function requireTags({ tagRules }: Caller, tags: Tags): void {
  if (tagRules === undefined) return
  const missing = tagRules.required.filter((name) => !tags.has(name))
  if (missing.length === 0) return
  const example = missing.map((name) => `${name}=…`).join(',')
  throw new AppError(
    'missing_tags',
    `Requests with this key need the tags ${missing.join(', ')}. Send them as \`${TAGS_HEADER}: ${example}\`, or in \`metadata\`.`,
    { param: TAGS_HEADER },
  )
}
