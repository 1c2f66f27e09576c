import { setTimeout as pause } from 'node:timers/promises'
import type { GatewayClient } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { readLogPages, type LogEntry, type LogSelection } from './read-log.ts'

interface FollowOptions {
  readonly signal: AbortSignal
  /** How many of the requests before now are shown first. */
  readonly before: number
  readonly onEntry: (entry: LogEntry) => void
  readonly onNote: (sentence: string) => void
}

const LOOK_MS = 2_000
/** A request is in the log when it has ended, under the time when it began: this far back a look finds new ones. */
const LATE_MS_MAX = 15 * 60_000
const PAGES_MAX = 10
/** Other looks end at the first page without a new request; this one reads all of that time. */
const THOROUGH_EVERY = 10
/** Two minutes, for a gateway that starts again. */
const FAILED_LOOKS_MAX = 60

/** Calls back with the last requests and with each that ends from now on, oldest first, until the signal is aborted. */
export async function followLog(
  gateway: GatewayClient,
  selection: LogSelection,
  { signal, before, onEntry, onNote }: FollowOptions,
): Promise<void> {
  const seen = new Map<string, number>()
  let newestMs: number | null = null
  let floorMs: number | null = null
  let failedLooks = 0
  const look = async (isThorough: boolean): Promise<LogEntry[]> => {
    const fresh: LogEntry[] = []
    let isComplete = false
    const since = newestMs === null ? {} : { since: laterOf(selection.query.since, newestMs - LATE_MS_MAX) }
    const recent = { ...selection, query: { ...selection.query, ...since } }
    for await (const { data, next_cursor: next } of readLogPages(gateway, recent, { pagesMax: PAGES_MAX })) {
      const isNew = ({ id, created_at: at }: LogEntry) => !seen.has(id) && Date.parse(at) >= (floorMs ?? 0)
      const found = data.filter(isNew)
      for (const entry of found) seen.set(entry.id, Date.parse(entry.created_at))
      fresh.push(...found)
      newestMs = Math.max(newestMs ?? 0, ...found.map((entry) => Date.parse(entry.created_at)))
      const oldestMs = Math.min(...data.map((entry) => Date.parse(entry.created_at)))
      isComplete = next === null || oldestMs < newestMs - LATE_MS_MAX
      if (isComplete || (!isThorough && found.length === 0)) break
    }
    // What the first look did not reach is not new.
    floorMs ??= isComplete ? 0 : Math.min(...seen.values())
    for (const [id, atMs] of seen) if (atMs < (newestMs ?? 0) - LATE_MS_MAX) seen.delete(id)
    return fresh.toReversed()
  }
  for (const entry of (await look(true)).slice(-before)) onEntry(entry)
  for (let looks = 1; !signal.aborted; looks += 1) {
    // The end of the watch is its purpose, not a failure.
    await pause(LOOK_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    try {
      for (const entry of await look(looks % THOROUGH_EVERY === 0)) onEntry(entry)
      failedLooks = 0
    } catch (error) {
      failedLooks += 1
      if (!isPassing(error) || failedLooks >= FAILED_LOOKS_MAX) throw error
      if (failedLooks === 1) onNote(`${error.message} Trying again.`)
    }
  }
}

function laterOf(since: string | undefined, ms: number): string {
  return new Date(Math.max(ms, since === undefined ? 0 : Date.parse(since))).toISOString()
}

function isPassing(error: unknown): error is CommandFailure {
  return (
    error instanceof CommandFailure &&
    (error.exitCode === EXIT.gatewayAway || error.exitCode === EXIT.limited)
  )
}
