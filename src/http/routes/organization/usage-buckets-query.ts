import { Type, type TSchema } from 'typebox'
import { invalidValue, notFound } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import { parseTagLabel } from '../../../modules/keys/keys.ts'
import {
  BUCKET_WIDTHS_MS,
  type BucketFilter,
  type BucketsQuery,
  type BucketWidth,
  type Grouping,
  type UsageRange,
} from '../../../modules/usage/usage.ts'
import type { Reader } from '../../../modules/keys/keys.ts'
import { parseWireId } from '../../../wires/organization-ids.ts'
import { listFilter, readFilter } from './list-filter.ts'

/** The year 9999. */
const SECONDS_MAX = 253_370_764_800

const Seconds = (description: string) => Type.Integer({ minimum: 0, maximum: SECONDS_MAX, description })
const WireId = Type.String({ minLength: 1, maxLength: 100 })

/** A filter under both its names. */
function both(name: string, item: TSchema, description: string) {
  const filter = listFilter(item, description)
  return { [name]: filter, [`${name}[]`]: filter }
}

/** The parameters of all routes of usage and costs. */
export const bucketParameters = {
  start_time: Seconds('The beginning, in seconds. The bucket that it is in is the first.'),
  end_time: Type.Optional(Seconds('The end, in seconds; now unless told. The bucket before it is the last.')),
  page: Type.Optional(Type.String({ maxLength: 100, description: '`next_page` of the page before.' })),
  ...both('project_ids', WireId, 'Only these projects.'),
  ...both('user_ids', WireId, 'Only keys of these people or service accounts.'),
  ...both('api_key_ids', WireId, 'Only these keys, by their ids.'),
  ...both(
    'models',
    Type.String({ minLength: 1, maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f]*$' }),
    'Only these models.',
  ),
}

export const groupByParameter = (names: readonly string[], description: string) =>
  both(
    'group_by',
    Type.String({ minLength: 1, maxLength: 100 }),
    `${description} ${names.map((name) => `\`${name}\``).join(', ')}.`,
  )

export const tagsParameter = both(
  'tags',
  Type.String({ minLength: 1, maxLength: 200 }),
  'Only requests with one of these tags, such as `team=search`. All must have the same name.',
)

/** What a client sends, under both spellings of each name. */
export type SentBuckets = Readonly<Record<string, unknown>> & {
  readonly start_time: number
  readonly end_time?: number
  readonly limit?: number
  readonly page?: string
}

interface BucketRules {
  readonly reader: Reader
  readonly nowMs: number
  readonly width: BucketWidth
  readonly limit: { readonly usual: number; readonly max: number }
  /** By their names on the wire. Null for what is the same for all requests here. */
  readonly groupings: Readonly<Record<string, Grouping | null>>
  /** Whether it may be grouped by a tag. */
  readonly hasTags?: true
  readonly operations: readonly string[] | null
}

export interface ParsedBuckets {
  readonly query: BucketsQuery
  /** Of all pages. */
  readonly endMs: number
  /** The names to group by, as they were sent. */
  readonly groupBy: ReadonlySet<string>
}

export function parseBuckets(sent: SentBuckets, rules: BucketRules): ParsedBuckets {
  const { reader, width, groupings, operations } = rules
  const range = parseRange(sent, rules)
  const names = new Set(listOf(sent, 'group_by') ?? [])
  const tagName = parseTagName(names)
  const groupBy = new Set<Grouping>()
  for (const name of names) {
    const isTag = name.startsWith(TAG) && rules.hasTags === true
    if (!isTag && !Object.hasOwn(groupings, name))
      throw invalidValue('group_by', `group_by must be one of ${Object.keys(groupings).join(', ')}.`)
    const grouping = isTag ? 'tag' : groupings[name]
    if (grouping) groupBy.add(grouping)
  }
  const filter = parseFilter(sent, reader, operations)
  if (
    filter.labels !== null &&
    tagName !== null &&
    !filter.labels.every((label) => label.startsWith(`${TAG}${tagName}=`))
  )
    throw invalidValue(
      'tags',
      'tags must have the name that is grouped by: sums are kept for one tag at a time.',
    )
  return {
    query: { ...reader, range: range.page, width, groupBy, tagName, filter },
    endMs: range.endMs,
    groupBy: names,
  }
}

const TAG = 'tag:'

function parseTagName(names: ReadonlySet<string>): string | null {
  const tags = [...names].filter((name) => name.startsWith(TAG))
  const [tag] = tags
  if (tag === undefined) return null
  if (tags.length > 1) throw invalidValue('group_by', 'group_by may have one tag.')
  const name = tag.slice(TAG.length)
  if (parseTagLabel(`${name}=x`) === null)
    throw invalidValue('group_by', 'group_by=tag:name must have the name of a tag.')
  return name
}

function parseRange(
  { start_time: start, end_time: end, limit, page }: SentBuckets,
  { width, nowMs, limit: { usual, max } }: BucketRules,
): { page: UsageRange; endMs: number } {
  const bucketMs = BUCKET_WIDTHS_MS[width]
  const startMs = Math.floor((start * 1000) / bucketMs) * bucketMs
  // The current bucket is a part of what there is until now.
  const endMs = Math.ceil((end === undefined ? nowMs + 1 : end * 1000) / bucketMs) * bucketMs
  if (end !== undefined && end <= start)
    throw invalidValue('end_time', 'end_time must be later than start_time.')
  const count = limit ?? usual
  if (count > max) throw invalidValue('limit', `limit must be at most ${max} for buckets of ${width}.`)
  const fromMs = page === undefined ? startMs : parsePage(page, bucketMs)
  if (fromMs < startMs || (page !== undefined && fromMs >= endMs)) throw badPage()
  return { page: { fromMs, toMs: Math.max(fromMs, Math.min(endMs, fromMs + count * bucketMs)) }, endMs }
}

const PAGE = /^page_([0-9a-z]{1,12})$/
const BASE = 36

export function toPage(fromMs: number): string {
  return `page_${(fromMs / 1000).toString(BASE)}`
}

function parsePage(page: string, bucketMs: number): number {
  const digits = PAGE.exec(page)?.[1]
  const fromMs = digits === undefined ? Number.NaN : Number.parseInt(digits, BASE) * 1000
  if (!Number.isSafeInteger(fromMs) || fromMs > SECONDS_MAX * 1000 || fromMs % bucketMs !== 0) throw badPage()
  return fromMs
}

function badPage(): Error {
  return invalidValue('page', 'page must come from another page of the same query.')
}

function parseFilter(
  sent: SentBuckets,
  reader: Reader,
  operations: BucketFilter['operations'],
): BucketFilter {
  const projectIds = idsOf(sent, 'project_ids', (text) => parseWireId('project', text))
  // Another project is to this key as one that does not exist.
  if (reader.projectId !== null && projectIds?.some((id) => id !== reader.projectId) === true)
    throw notFound('project')
  const ownerOf = (text: string) => parseWireId('user', text) ?? parseWireId('serviceAccount', text)
  return {
    projectIds,
    ownerIds: idsOf(sent, 'user_ids', ownerOf),
    keyIds: idsOf(sent, 'api_key_ids', (text) => (isUuid(text) ? text : null)),
    models: listOf(sent, 'models'),
    operations,
    labels: parseTags(listOf(sent, 'tags')),
  }
}

function parseTags(tags: readonly string[] | null): readonly string[] | null {
  if (tags === null) return null
  const labels = tags.map((tag) => {
    const label = parseTagLabel(tag)
    if (label === null) throw invalidValue('tags', 'tags must have the form name=value.')
    return label
  })
  const names = new Set(tags.map((tag) => tag.slice(0, tag.indexOf('='))))
  if (names.size > 1)
    throw invalidValue('tags', 'tags must all have the same name: sums are kept for one tag at a time.')
  return [...new Set(labels)]
}

function idsOf(
  sent: SentBuckets,
  name: string,
  read: (text: string) => string | null,
): readonly string[] | null {
  return (
    listOf(sent, name)?.map((text) => {
      const id = read(text)
      if (id === null) throw invalidValue(name, `${name} has something that is no id.`)
      return id
    }) ?? null
  )
}

function listOf(sent: SentBuckets, name: string): readonly string[] | null {
  return readFilter(textsOf(sent[name]), textsOf(sent[`${name}[]`]))
}

function textsOf(value: unknown): string | readonly string[] | undefined {
  if (typeof value === 'string') return value
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined
}
