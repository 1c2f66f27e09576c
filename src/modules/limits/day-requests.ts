import type { Logger } from '../../kernel/logger.ts'
import type { Queryable } from '../../storage/database.ts'
import type { RateOutcome } from '../../storage/borrowing/borrowed-rates.ts'

/** The limit of requests a day that a project has for a model. */
interface DayLimit {
  readonly projectId: string
  readonly model: string
  readonly perDay: number
}

/** Requests of a day in UTC, exact over all processes: each takes slices of what is left in the database. */
export interface DayRequests {
  takeNow(limit: DayLimit, nowMs: number): boolean
  take(limit: DayLimit): Promise<RateOutcome>
  giveBack(limit: DayLimit): void
  /** Gives everything back. */
  close(): Promise<void>
}

interface Slice {
  readonly limit: DayLimit
  readonly day: string
  readonly endsMs: number
  inHand: number
  usedAtMs: number
}

/** A slice is at most this part of what is left, so that little of the end of a day waits in other processes. */
const SLICES_LEFT = 100
const SLICE_MAX = 50
const IDLE_MS = 2_000
const SLICES_MAX = 50_000

export function createDayRequests({
  database,
  logger,
}: {
  database: Queryable
  logger: Logger
}): DayRequests {
  const slices = new Map<string, Slice>()
  const nameOf = ({ projectId, model }: DayLimit): string => `${projectId} ${model}`

  const returnSlice = async (name: string, slice: Slice): Promise<void> => {
    slices.delete(name)
    const units = slice.inHand
    slice.inHand = 0
    if (units <= 0) return
    const { projectId, model } = slice.limit
    await database.query(GIVE_BACK, [projectId, model, slice.day, units])
  }

  const returnIdle = async (): Promise<void> => {
    const nowMs = performance.now()
    for (const [name, slice] of slices) {
      if (nowMs - slice.usedAtMs < IDLE_MS) continue
      await returnSlice(name, slice).catch((error: unknown) =>
        logger.warn({ err: error }, 'requests of a day could not be given back; they count as used'),
      )
    }
  }
  const timer = setInterval(() => void returnIdle(), IDLE_MS).unref()

  return {
    takeNow: (limit, nowMs) => {
      const slice = slices.get(nameOf(limit))
      if (slice === undefined || slice.inHand < 1 || nowMs >= slice.endsMs) return false
      // A limit that was lowered is compared with what all processes have taken.
      if (slice.limit.perDay !== limit.perDay) return false
      slice.inHand -= 1
      slice.usedAtMs = nowMs
      return true
    },
    take: async (limit) => {
      const name = nameOf(limit)
      const old = slices.get(name)
      if (old !== undefined) await returnSlice(name, old)
      const { taken, dayLeftMs, day } = await takeSlice(database, limit)
      if (taken < 1) return { isTaken: false, retryAfterMs: dayLeftMs }
      const nowMs = performance.now()
      const slice = { limit, day, endsMs: nowMs + dayLeftMs, inHand: taken - 1, usedAtMs: nowMs }
      // A request that waited for another slice of the same day adds to it.
      const meanwhile = slices.get(name)
      if (meanwhile !== undefined && meanwhile.day === day) slice.inHand += meanwhile.inHand
      if (slices.size < SLICES_MAX || meanwhile !== undefined) slices.set(name, slice)
      else await database.query(GIVE_BACK, [limit.projectId, limit.model, day, slice.inHand])
      return { isTaken: true }
    },
    giveBack: (limit) => {
      const slice = slices.get(nameOf(limit))
      if (slice !== undefined) slice.inHand += 1
    },
    close: async () => {
      clearInterval(timer)
      await Promise.allSettled([...slices].map(([name, slice]) => returnSlice(name, slice)))
    },
  }
}

async function takeSlice(
  database: Queryable,
  { projectId, model, perDay }: DayLimit,
): Promise<{ taken: number; dayLeftMs: number; day: string }> {
  const values = [projectId, model, perDay, SLICES_LEFT, SLICE_MAX]
  let [row] = await database.query<TakenRow>(TAKE, values)
  if (row === undefined) {
    await database.query(
      `INSERT INTO project_day_requests (project_id, model, day, taken)
       VALUES ($1, $2, (clock_timestamp() AT TIME ZONE 'UTC')::date, 0) ON CONFLICT DO NOTHING`,
      [projectId, model],
    )
    ;[row] = await database.query<TakenRow>(TAKE, values)
  }
  if (row === undefined) throw new Error('the requests of a day were neither found nor created')
  return { taken: Number(row.granted), dayLeftMs: Number(row.day_left_ms), day: row.day }
}

interface TakenRow {
  readonly granted: bigint
  readonly day: string
  readonly day_left_ms: bigint
}

const UTC = `(clock_timestamp() AT TIME ZONE 'UTC')`

// The row is locked before it is read, so that two processes never take the same units.
const TAKE = `
  UPDATE project_day_requests d SET day = t.day, taken = t.base + t.granted
  FROM (
    SELECT l.project_id, l.model, l.day, l.base,
      greatest(0, least($3 - l.base, greatest(1, least($5::bigint, ($3 - l.base) / $4::bigint)))) AS granted
    FROM (
      SELECT project_id, model, greatest(day, ${UTC}::date) AS day,
        CASE WHEN day >= ${UTC}::date THEN taken ELSE 0 END AS base
      FROM project_day_requests WHERE project_id = $1 AND model = $2 FOR UPDATE
    ) l
  ) t
  WHERE d.project_id = t.project_id AND d.model = t.model
  RETURNING t.granted, t.day::text AS day,
    ceil(extract(epoch FROM t.day + interval '1 day' - ${UTC}) * 1000)::bigint AS day_left_ms`

const GIVE_BACK = `
  UPDATE project_day_requests SET taken = taken - $4 WHERE project_id = $1 AND model = $2 AND day = $3::date AND taken >= $4`
