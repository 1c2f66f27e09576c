import type { Logger } from '../../kernel/logger.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Queryable } from '../../storage/database.ts'

/** What was spent with keys of providers today, in UTC, over all processes. */
export interface KeySpend {
  /** As this process knows it. Null before it has asked. */
  known(keyId: string): DaySpend | null
  /** Asks the database. Keys that were asked about lately are asked about every second. */
  read(keyId: string): Promise<DaySpend>
  /** Of all processes, with what this one has not written yet. */
  readNow(keyIds: readonly string[]): Promise<ReadonlyMap<string, NanoUsd>>
  add(keyId: string, spentNanoUsd: NanoUsd): void
  /** Writes what was added. */
  close(): Promise<void>
}

interface DaySpend {
  readonly spentNanoUsd: NanoUsd
  /** Until the day ends. */
  readonly leftMs: number
}

interface KnownSpend {
  /** Of all processes, as last read. Null before it was read. */
  writtenNanoUsd: NanoUsd | null
  /** What this process has not written yet. */
  addedNanoUsd: NanoUsd
  /** By the monotonic clock. */
  dayEndsMs: number
  usedAtMs: number
}

const EXCHANGE_MS = 1_000
/** A key that nobody asks about for this long is forgotten. */
const IDLE_MS = 60_000
const SWEEP_EXCHANGES = 3_600

/** Spends from memory: what was spent is written and read together, every second, by one statement each for all keys. */
export function createKeySpend({ database, logger }: { database: Queryable; logger: Logger }): KeySpend {
  const keys = new Map<string, KnownSpend>()
  const reading = new Map<string, Promise<void>>()
  let exchanging: Promise<void> | null = null
  let exchanges = 0

  const write = async (): Promise<void> => {
    const added = [...keys].filter(([, { addedNanoUsd }]) => addedNanoUsd > 0n)
    if (added.length === 0) return
    const amounts = added.map(([id, { addedNanoUsd }]) => [id, addedNanoUsd] as const)
    await database.query(ADD, [amounts.map(([id]) => id), amounts.map(([, amount]) => amount)])
    for (const [id, amount] of amounts) {
      const spend = keys.get(id)
      if (spend === undefined) continue
      spend.addedNanoUsd -= amount
      if (spend.writtenNanoUsd !== null) spend.writtenNanoUsd += amount
    }
  }
  const readAll = async (ids: readonly string[]): Promise<void> => {
    const sentAtMs = performance.now()
    const rows = await database.query<SpentRow>(READ, [ids])
    for (const { id, spent, day_left_ms: leftMs } of rows) {
      const before = keys.get(id)
      keys.set(id, {
        writtenNanoUsd: spent,
        addedNanoUsd: before?.addedNanoUsd ?? 0n,
        dayEndsMs: sentAtMs + Number(leftMs),
        usedAtMs: before?.usedAtMs ?? sentAtMs,
      })
    }
  }
  /** Requests that come while a key is read wait for the same answer. */
  const readOnce = (id: string): Promise<void> => {
    const running = reading.get(id)
    if (running !== undefined) return running
    const started = readAll([id]).finally(() => reading.delete(id))
    reading.set(id, started)
    return started
  }
  const exchange = async (): Promise<void> => {
    await write()
    const nowMs = performance.now()
    for (const [id, { addedNanoUsd, usedAtMs }] of keys)
      if (addedNanoUsd === 0n && nowMs - usedAtMs > IDLE_MS) keys.delete(id)
    if (keys.size > 0) await readAll([...keys.keys()])
    exchanges += 1
    if (exchanges % SWEEP_EXCHANGES === 0) await database.query(SWEEP)
  }
  const exchangeOnce = (): Promise<void> => {
    exchanging ??= exchange().finally(() => (exchanging = null))
    return exchanging
  }
  const ticker = setInterval(() => {
    exchangeOnce().catch((error: unknown) =>
      logger.warn({ err: error }, 'what keys of providers have spent could not be exchanged'),
    )
  }, EXCHANGE_MS).unref()

  const known = (id: string): DaySpend | null => {
    const spend = keys.get(id)
    if (spend === undefined || spend.writtenNanoUsd === null) return null
    const nowMs = performance.now()
    spend.usedAtMs = nowMs
    // Another day has begun; what it has spent is read within a second.
    if (nowMs >= spend.dayEndsMs) return { spentNanoUsd: spend.addedNanoUsd, leftMs: EXCHANGE_MS }
    return { spentNanoUsd: spend.writtenNanoUsd + spend.addedNanoUsd, leftMs: spend.dayEndsMs - nowMs }
  }

  return {
    known,
    read: async (id) => {
      await readOnce(id)
      return known(id) ?? { spentNanoUsd: 0n, leftMs: EXCHANGE_MS }
    },
    readNow: async (ids) => {
      if (ids.length === 0) return new Map()
      const rows = await database.query<SpentRow>(READ, [ids])
      return new Map(rows.map(({ id, spent }) => [id, spent + (keys.get(id)?.addedNanoUsd ?? 0n)]))
    },
    add: (id, spentNanoUsd) => {
      if (spentNanoUsd <= 0n) return
      const nowMs = performance.now()
      const spend = keys.get(id) ?? {
        writtenNanoUsd: null,
        addedNanoUsd: 0n,
        dayEndsMs: nowMs,
        usedAtMs: nowMs,
      }
      spend.addedNanoUsd += spentNanoUsd
      keys.set(id, spend)
    },
    close: async () => {
      clearInterval(ticker)
      await exchanging?.catch(() => {})
      await write().catch((error: unknown) =>
        logger.warn({ err: error }, 'what keys of providers have spent could not be written'),
      )
    },
  }
}

interface SpentRow {
  readonly id: string
  readonly spent: bigint
  readonly day_left_ms: bigint
}

const NOW = `(clock_timestamp() AT TIME ZONE 'UTC')`

// In one order, so that two processes never wait for each other.
const ADD = `
  INSERT INTO provider_key_spend AS s (key_id, day, spent_nano)
  SELECT id, ${NOW}::date, spent FROM unnest($1::text[], $2::bigint[]) AS given (id, spent) ORDER BY id
  ON CONFLICT (key_id) DO UPDATE SET
    spent_nano = CASE WHEN s.day < excluded.day THEN 0 ELSE s.spent_nano END + excluded.spent_nano,
    day = greatest(s.day, excluded.day)`

const READ = `
  SELECT id, coalesce(s.spent_nano, 0) AS spent,
    ceil(extract(epoch FROM ${NOW}::date + interval '1 day' - ${NOW}) * 1000)::bigint AS day_left_ms
  FROM unnest($1::text[]) AS given (id)
  LEFT JOIN provider_key_spend s ON s.key_id = id AND s.day = ${NOW}::date`

const SWEEP = `DELETE FROM provider_key_spend WHERE day < ${NOW}::date - 30`
