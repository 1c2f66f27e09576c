import type { Clock } from '../../kernel/clock.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import type { HealthFigures, Usage, VendorHealth } from '../../modules/usage/usage.ts'

export type State = 'operational' | 'degraded' | 'down' | 'unknown'

/** What everybody may know: no account, no count, no error of a provider. */
export interface PublicStatus {
  readonly state: State
  readonly updated_at: string
  readonly providers: readonly PublicProvider[]
}

interface PublicProvider {
  readonly name: string
  /** Of this hour and the one before. */
  readonly state: State
  /** The part of the hours of all days. Null if it was not called. */
  readonly uptime: number | null
  readonly days: readonly PublicDay[]
}

interface PublicDay {
  readonly date: string
  readonly state: State
  readonly uptime: number | null
}

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const DAYS = 30
const HOURS_OF_NOW = 2
/** From this share of failed calls on. */
const DOWN_SHARE = 0.5
const DEGRADED_SHARE = 0.05
/** Fewer calls say nothing about a provider. */
const CALLS_MIN = 5

export interface StatusParts {
  readonly vendors: Pick<Usage['vendors'], 'read'>
  readonly clock: Clock
  /** The names of the providers that are configured. */
  readonly listProviders: () => readonly string[]
}

export async function readStatus({ vendors, clock, listProviders }: StatusParts): Promise<PublicStatus> {
  const nowMs = clock.nowMs()
  const all = { provider: null, model: null }
  const of = (ms: number) => ({ fromMs: nowMs - ms, toMs: nowMs })
  const [days, hours] = await Promise.all([
    vendors.read({ ...all, range: of((DAYS - 1) * DAY_MS), granularity: 'day' }),
    vendors.read({ ...all, range: of((HOURS_OF_NOW - 1) * HOUR_MS), granularity: 'hour' }),
  ])
  const nowOf = new Map(hours.map((health) => [health.provider, health]))
  const pastOf = new Map(days.map((health) => [health.provider, health]))
  const providers = listProviders()
    .toSorted()
    .map((name) => describeProvider(name, nowOf.get(name), pastOf.get(name)))
  return { state: worstOf(providers), updated_at: toTimestamp(nowMs), providers }
}

function describeProvider(
  name: string,
  now: VendorHealth | undefined,
  past: VendorHealth | undefined,
): PublicProvider {
  return {
    name,
    state: now === undefined ? 'unknown' : stateOf(now),
    uptime: past === undefined ? null : uptimeOf(past),
    days: (past?.buckets ?? []).map((day) => ({
      date: toTimestamp(day.range.fromMs).slice(0, 'YYYY-MM-DD'.length),
      state: stateOf(day),
      uptime: uptimeOf(day),
    })),
  }
}

function stateOf({ calls, failures }: HealthFigures): State {
  if (calls < CALLS_MIN) return 'unknown'
  const share = failures / calls
  if (share >= DOWN_SHARE) return 'down'
  return share >= DEGRADED_SHARE ? 'degraded' : 'operational'
}

function uptimeOf({ hours, hoursDown }: HealthFigures): number | null {
  return hours === 0 ? null : Math.round((1 - hoursDown / hours) * 10_000) / 10_000
}

/** All are down, some do badly, or nothing is wrong. A provider that is not called says nothing. */
function worstOf(providers: readonly PublicProvider[]): State {
  const known = providers.flatMap(({ state }) => (state === 'unknown' ? [] : [state]))
  if (known.length === 0) return 'unknown'
  if (known.every((state) => state === 'down')) return 'down'
  return known.every((state) => state === 'operational') ? 'operational' : 'degraded'
}
