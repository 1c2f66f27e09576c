import type { CatalogModel, LifeCycle } from '../catalog-model.ts'
import type { CatalogEntry } from '../entry/catalog-schema.ts'

const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?Z)?$/
const FIELDS = ['available_from', 'deprecated_from', 'shutdown_at'] as const

export function findLifeCycleProblems(entry: CatalogEntry, place: string): string[] {
  const wrong = FIELDS.filter((field) => entry[field] !== undefined && readMoment(entry[field]) === null)
  if (wrong.length > 0)
    return wrong.map(
      (field) => `${place}.${field}: is neither a date nor a time in UTC such as 2027-01-31T12:00:00Z`,
    )
  const problems: string[] = []
  const [from, deprecated, end] = FIELDS.map((field) => readMoment(entry[field]) ?? undefined)
  if (end !== undefined && from !== undefined && from >= end)
    problems.push(`${place}.shutdown_at: is before available_from`)
  if (end !== undefined && deprecated !== undefined && deprecated > end)
    problems.push(`${place}.deprecated_from: is after shutdown_at`)
  if (entry.shutdown_at !== undefined && entry.retires !== undefined)
    problems.push(`${place}.shutdown_at: is given together with 'retires', which is an end too`)
  if (entry.successor_answers === true && entry.successor === undefined)
    problems.push(`${place}.successor_answers: needs a 'successor'`)
  return problems
}

export function readLifeCycle(entry: CatalogEntry): LifeCycle | null {
  if (FIELDS.every((field) => entry[field] === undefined)) return null
  const deprecatedFromMs = readMoment(entry.deprecated_from)
  const shutdownMs = readMoment(entry.shutdown_at)
  const endMs = shutdownMs ?? readMoment(entry.retires)
  return {
    availableFromMs: readMoment(entry.available_from),
    deprecatedFromMs,
    shutdownMs,
    isSucceeded: entry.successor_answers === true,
    headers: [
      // RFC 9745 and RFC 8594.
      ...(deprecatedFromMs === null ? [] : ['deprecation', `@${Math.floor(deprecatedFromMs / 1000)}`]),
      ...(endMs === null ? [] : ['sunset', new Date(endMs).toUTCString()]),
      ...(entry.successor === undefined
        ? []
        : ['link', `</v1/models/${encodeURIComponent(entry.successor)}>; rel="successor-version"`]),
    ],
  }
}

function readMoment(text: string | undefined): number | null {
  if (text === undefined || !MOMENT.test(text)) return null
  const epochMs = Date.parse(text)
  // The parser moves 31 February to the next month.
  const isReal = !Number.isNaN(epochMs) && new Date(epochMs).toISOString().startsWith(text.slice(0, 10))
  return isReal ? epochMs : null
}

type Living = Pick<CatalogModel, 'retiresAt' | 'lifeCycle'>

/** When it ends. Null if that is not known. */
export function endOf({ retiresAt, lifeCycle }: Living): number | null {
  return retiresAt?.getTime() ?? lifeCycle?.shutdownMs ?? null
}

/** Whether its end has come. */
export function hasEnded(model: Living, atMs: number): boolean {
  const endMs = endOf(model)
  return endMs !== null && atMs >= endMs
}

/** Whether it answers itself, because its end is known and has not come. */
export function isBeforeShutdown({ lifeCycle }: Living, atMs: number): boolean {
  return lifeCycle !== undefined && lifeCycle.shutdownMs !== null && atMs < lifeCycle.shutdownMs
}

/** Whether nobody answers to its name: before it comes, or after an end without anybody in its place. */
export function isGone(model: Living, atMs: number): boolean {
  const { lifeCycle } = model
  if (lifeCycle === undefined) return false
  if (lifeCycle.availableFromMs !== null && atMs < lifeCycle.availableFromMs) return true
  return !lifeCycle.isSucceeded && model.retiresAt === undefined && hasEnded(model, atMs)
}

/** Whether it is among the models. */
export function isThere(model: Living, atMs: number): boolean {
  return !hasEnded(model, atMs) && !isGone(model, atMs)
}

/** The headers of its answers. Null for most models. */
export function deprecationOf({ lifeCycle }: Living, atMs: number): readonly string[] | null {
  const from = lifeCycle?.deprecatedFromMs ?? null
  return lifeCycle !== undefined && from !== null && atMs >= from ? lifeCycle.headers : null
}

/** What is known of the end of a model. */
export interface Ending {
  /** `announced`: it is neither deprecated nor ended yet. */
  readonly state: 'announced' | 'deprecated' | 'ended'
  readonly deprecatedFromMs: number | null
  readonly endMs: number | null
  /** Whether the successor answers after the end. */
  readonly isSucceeded: boolean
}

/** Null for a model that is not deprecated and does not end before `untilMs`. */
export function endingOf(
  model: Living,
  { nowMs, untilMs }: { nowMs: number; untilMs: number },
): Ending | null {
  const endMs = endOf(model)
  const deprecatedFromMs = model.lifeCycle?.deprecatedFromMs ?? null
  const nextMs = Math.min(endMs ?? Infinity, deprecatedFromMs ?? Infinity)
  if (nextMs >= untilMs) return null
  const isDeprecated = deprecatedFromMs !== null && deprecatedFromMs <= nowMs
  return {
    state: hasEnded(model, nowMs) ? 'ended' : isDeprecated ? 'deprecated' : 'announced',
    deprecatedFromMs,
    endMs,
    isSucceeded: model.retiresAt !== undefined || model.lifeCycle?.isSucceeded === true,
  }
}
