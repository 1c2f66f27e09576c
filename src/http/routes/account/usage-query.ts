import { Type, type Static } from 'typebox'
import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import { isUuid } from '../../../kernel/identifiers.ts'
import { ENVIRONMENTS, parseTagLabel } from '../../../modules/keys/keys.ts'
import {
  BUCKETS_MAX,
  DAY_MS,
  GRANULARITIES,
  HOUR_MS,
  OUTCOMES,
  SERIES_MAX,
  type Granularity,
  type UsageFilter,
  type UsageRange,
} from '../../../modules/usage/usage.ts'
import { parseWireId } from '../../../wires/organization-ids.ts'
import { ListQuery } from '../../answers/list-page.ts'
import { CALENDAR_WINDOWS, calendarRange, type CalendarWindow } from '../../parameters/calendar-range.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'

const WINDOWS_MS = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS } as const
type RollingWindow = keyof typeof WINDOWS_MS
export type Window = RollingWindow | CalendarWindow
const ROLLING_WINDOWS = ['24h', '7d', '30d'] as const satisfies readonly RollingWindow[]
const WINDOWS = [...ROLLING_WINDOWS, ...CALENDAR_WINDOWS] as const satisfies readonly Window[]
const RANGE_DAYS_MAX = 1_100
// Ranges up to this length are grouped by hour by default.
const HOURLY_RANGE_MS_MAX = 3 * DAY_MS
const DIMENSION_NAMES = ['model', 'provider', 'key', 'env'] as const
/** Also `tag:` and the name of a tag. */
const GROUP_PATTERN = `^(${DIMENSION_NAMES.join('|')}|tag:[a-z0-9_.-]{1,64})$`
const GROUPS_DEFAULT = 20
const GROUPS_MAX = 100
const GROUP_NAMES = '`model`, `provider`, `key`, `env`, or `tag:team` for the values of a tag.'

// Control characters are refused, because PostgreSQL cannot compare with NUL and no name has the others.
export const Text = (description: string) =>
  Type.String({ minLength: 1, maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f]*$', description })
const Time = (description: string) => Type.String({ maxLength: 64, description })

export const rangeFields = {
  window: Type.Optional(
    Type.Enum([...WINDOWS], {
      description:
        'The time up to now, or a part of the calendar of `time_zone`; weeks begin on Monday. Instead of `from` and `to`.',
    }),
  ),
  time_zone: Type.Optional(
    Text('The time zone of a part of the calendar, such as `Europe/Zurich`; UTC unless told.'),
  ),
  from: Type.Optional(Time('The beginning, RFC 3339. What began at this instant is counted.')),
  to: Type.Optional(Time('The end, RFC 3339; now unless told. What began at this instant is not counted.')),
}

export const filterFields = {
  key: Type.Optional(Text('The id of an API key: only what it used.')),
  model: Type.Optional(Text('Only what this model was used for.')),
  provider: Type.Optional(Text('Only what this provider served.')),
  env: Type.Optional(
    Type.Enum([...ENVIRONMENTS], { description: 'Only what keys of this environment used.' }),
  ),
  project_id: Type.Optional(Text('The id of a project: only what its keys used.')),
  tag: Type.Optional(
    Text('Only requests with this tag, such as `team=search`. Not together with `provider` and `env`.'),
  ),
}

const limitField = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: GROUPS_MAX,
      default: GROUPS_DEFAULT,
      description: 'How many groups at most; what is left is added up under `other`.',
    }),
  ),
}

export const RangeQuery = Type.Object(rangeFields)

export const SummaryQuery = Type.Object({ ...rangeFields, ...filterFields })

export const TodayQuery = Type.Object(filterFields)

export const TimeseriesQuery = Type.Object({
  granularity: Type.Optional(
    Type.Enum([...GRANULARITIES], {
      description: `Hours or days of UTC. Hours for up to three days unless told; at most ${BUCKETS_MAX} buckets.`,
    }),
  ),
  ...rangeFields,
  by: Type.Optional(
    Type.String({
      pattern: GROUP_PATTERN,
      description: `Adds a series for each of the ${SERIES_MAX} dearest, and one for the others: ${GROUP_NAMES}`,
    }),
  ),
  ...filterFields,
})

const { tag: _, ...latencyFields } = TimeseriesQuery.properties

export const LatencyQuery = Type.Object({
  ...latencyFields,
  by: Type.Optional(
    Type.Enum([...DIMENSION_NAMES], {
      description: `Adds a series for each of the ${SERIES_MAX} with the most requests.`,
    }),
  ),
  operation: Type.Optional(Text('Only this operation: `chat`, `embedding` and so on.')),
})

export const SpendingQuery = Type.Object({
  by: Type.Optional(
    Type.String({
      pattern: GROUP_PATTERN,
      default: 'model',
      description: `What to group by: ${GROUP_NAMES}`,
    }),
  ),
  ...rangeFields,
  ...filterFields,
  ...limitField,
})

export const RecordsQuery = Type.Object({
  ...ListQuery.properties,
  ...filterFields,
  since: Type.Optional(Time('Only requests that began at this time or later, RFC 3339.')),
  until: Type.Optional(Time('Only requests that began before this time, RFC 3339.')),
  outcome: Type.Optional(Type.Enum([...OUTCOMES], { description: 'Only requests that ended this way.' })),
})

export interface ParsedRange {
  /** Null if the range was given by `from` and `to`. */
  readonly window: Window | null
  readonly range: UsageRange
}

/** Returns the requested range, or the default window of the route. */
export function parseRange(
  { window, from, to, time_zone: timeZone }: Static<typeof RangeQuery>,
  { usual, nowMs }: { usual: RollingWindow; nowMs: number },
): ParsedRange {
  if (from === undefined && to === undefined) {
    const calendar = CALENDAR_WINDOWS.find((name) => name === window)
    if (calendar !== undefined)
      return { window: calendar, range: calendarRange(calendar, timeZone ?? 'UTC', nowMs) }
    refuseTimeZone(timeZone)
    const chosen = ROLLING_WINDOWS.find((name) => name === window) ?? usual
    return { window: chosen, range: { fromMs: nowMs - WINDOWS_MS[chosen], toMs: nowMs, isUntilNow: true } }
  }
  refuseTimeZone(timeZone)
  if (window !== undefined) throw invalidValue('window', 'Give either window or from and to, not both.')
  if (from === undefined) {
    throw new AppError('missing_required_parameter', "Missing required parameter: 'from'.", { param: 'from' })
  }
  const range = {
    fromMs: parseTimestamp('from', from),
    toMs: to === undefined ? nowMs : parseTimestamp('to', to),
    isUntilNow: to === undefined,
  }
  requireOrder('from', range)
  if (range.toMs - range.fromMs > RANGE_DAYS_MAX * DAY_MS) {
    throw invalidValue('from', `from and to may be at most ${RANGE_DAYS_MAX} days apart.`)
  }
  return { window: null, range }
}

function refuseTimeZone(timeZone: string | undefined): void {
  if (timeZone !== undefined)
    throw invalidValue('time_zone', `time_zone is for ${CALENDAR_WINDOWS.join(', ')} only.`)
}

/** Returns the requested range. Without `since` and `until` it covers the whole history. */
export function parseRecordsRange(
  { since, until }: { since?: string; until?: string },
  nowMs: number,
): UsageRange {
  const range = {
    fromMs: since === undefined ? 0 : parseTimestamp('since', since),
    // Clocks of processes differ a little, so include records from slightly ahead.
    toMs: until === undefined ? nowMs + HOUR_MS : parseTimestamp('until', until),
  }
  requireOrder('since', range)
  return range
}

function requireOrder(param: 'from' | 'since', { fromMs, toMs }: UsageRange): void {
  const end = param === 'from' ? 'to' : 'until'
  if (fromMs >= toMs)
    throw invalidValue(param, `${param} must be earlier than ${end}, which is now unless told.`)
}

export function chooseGranularity(asked: Granularity | undefined, { fromMs, toMs }: UsageRange): Granularity {
  return asked ?? (toMs - fromMs <= HOURLY_RANGE_MS_MAX ? 'hour' : 'day')
}

export function parseFilter(query: Partial<Static<typeof TodayQuery>>): UsageFilter {
  if (query.key !== undefined && !isUuid(query.key)) {
    throw invalidValue('key', 'key must be the id of an API key, not the key.')
  }
  return {
    ...(query.key !== undefined && { keyId: query.key }),
    ...(query.model !== undefined && { model: query.model }),
    ...(query.provider !== undefined && { provider: query.provider }),
    ...(query.env !== undefined && { environment: query.env }),
    ...(query.project_id !== undefined && { projectId: parseProject(query.project_id) }),
    ...(query.tag !== undefined && { label: parseTag(query.tag) }),
  }
}

function parseProject(text: string): string {
  const id = parseWireId('project', text)
  if (id === null) throw invalidValue('project_id', 'project_id must be the id of a project.')
  return id
}

function parseTag(text: string): string {
  const label = parseTagLabel(text)
  if (label === null) throw invalidValue('tag', 'tag must have the form name=value.')
  return label
}

/** Sums by tag know the key and the model only. */
export function refuseBesideTags({ tag, by, provider, env }: TaggedQuery): void {
  if (tag === undefined && by?.startsWith(TAG) !== true) return
  const other = provider !== undefined || by === 'provider' ? 'provider' : 'env'
  if (provider === undefined && env === undefined && by !== 'provider' && by !== 'env') return
  throw invalidValue(other, `${other} cannot be asked for together with a tag.`)
}

interface TaggedQuery {
  readonly tag?: string
  readonly by?: string
  readonly provider?: string
  readonly env?: string
}

const TAG = 'tag:'

/** What to group by. Throws for what cannot be asked for together with a tag. */
export function parseGroup<Usual extends Group | null>(
  query: TaggedQuery,
  usual: Usual,
): { readonly by: Group | Usual; readonly tagName?: string } {
  refuseBesideTags(query)
  const { by } = query
  if (by?.startsWith(TAG) === true) return { by: 'tag', tagName: by.slice(TAG.length) }
  return { by: DIMENSION_NAMES.find((name) => name === by) ?? usual }
}

type Group = (typeof DIMENSION_NAMES)[number] | 'tag'

export function parseGroupLimit(limit: number | undefined): number {
  return limit ?? GROUPS_DEFAULT
}
