import type { LogPage, LogQuery } from './list-entries.ts'
import type { LogEntry } from './log-entry.ts'

/** Requests that ended since the last look, oldest first. */
export interface EndedRequests {
  readonly entries: readonly LogEntry[]
  /** More requests ended than one look reads. The others are in the log. */
  readonly isCut: boolean
}

/** What is followed. It has neither a range nor pages. */
export type FollowedQuery = Pick<LogQuery, 'accountId' | 'projectId' | 'ownKeyId' | 'filter'>

export interface FollowTiming {
  readonly nowMs: () => number
  /** Waits. Resolves to false when nobody follows any more. */
  readonly pause: (milliseconds: number) => Promise<boolean>
  readonly toldMax?: number
}

const LOOK_MS = 1_000
/** A look takes at most this part of the time, so that a rare filter does not keep the database busy. */
const LOOK_SHARE = 0.1
/** A request is in the log when it has ended, under the time when it began: this far back a look finds new ones. */
const LATE_MS_MAX = 15 * 60_000
/** Clocks of processes differ a little. */
const AHEAD_MS = 60_000
const PAGE_LENGTH = 100
const PAGES_MAX = 5
/** Other looks end at the first page without a new request; this one reads all of that time. */
const THOROUGH_EVERY = 30
/** Requests that are remembered as told. Beyond it, the oldest are not found any more if they end late. */
const TOLD_MAX = 20_000
/** So often something is told at least, so that a connection that is gone is noticed. */
const SILENCE_MS_MAX = 15_000

/**
 * Yields the last requests that a query finds, and then those that end, in whichever process of the gateway. It reads the log, which
 * all processes write, so that no request costs more while somebody follows.
 */
export async function* followRequests(
  query: FollowedQuery,
  list: (query: LogQuery) => Promise<LogPage>,
  { nowMs, pause, toldMax = TOLD_MAX }: FollowTiming,
): AsyncGenerator<EndedRequests> {
  const told = new Map<string, number>()
  let floorMs = 0
  const look = async (pagesMax: number, isThorough: boolean): Promise<EndedRequests> => {
    const fresh: LogEntry[] = []
    const range = { fromMs: nowMs() - LATE_MS_MAX, toMs: nowMs() + AHEAD_MS }
    let afterId: string | null = null
    let isCut = false
    for (let page = 1; page <= pagesMax; page += 1) {
      const found: LogPage = await list({
        ...query,
        range,
        requestUuid: null,
        page: { limit: PAGE_LENGTH, afterId },
      })
      const unknown = found.entries.filter(({ id, createdAtMs }) => !told.has(id) && createdAtMs >= floorMs)
      fresh.push(...unknown)
      afterId = found.nextCursor
      if (afterId === null || (!isThorough && unknown.length === 0)) break
      isCut = page === pagesMax && unknown.length > 0
    }
    for (const { id, createdAtMs } of fresh) told.set(id, createdAtMs)
    forget(range.fromMs)
    return { entries: fresh.toReversed(), isCut }
  }
  /** Whatever is not remembered must not be told again. */
  const forget = (fromMs: number): void => {
    for (const [id, atMs] of told) if (atMs < fromMs) told.delete(id)
    if (told.size <= toldMax) return
    const byTime = [...told].toSorted(([, a], [, b]) => a - b)
    for (const [id, atMs] of byTime.slice(0, told.size - toldMax / 2)) {
      told.delete(id)
      floorMs = Math.max(floorMs, atMs + 1)
    }
  }

  const first = await look(1, true)
  // What the first look did not reach is not new.
  if (first.isCut) floorMs = first.entries[0]?.createdAtMs ?? 0
  yield { ...first, isCut: false }
  let toldAtMs = nowMs()
  let tookMs = 0
  for (let looks = 1; await pause(Math.max(LOOK_MS, tookMs / LOOK_SHARE)); looks += 1) {
    const beganMs = nowMs()
    const found = await look(PAGES_MAX, looks % THOROUGH_EVERY === 0)
    tookMs = nowMs() - beganMs
    if (found.entries.length === 0 && nowMs() - toldAtMs < SILENCE_MS_MAX) continue
    toldAtMs = nowMs()
    yield found
  }
}
