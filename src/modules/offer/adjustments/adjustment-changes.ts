import { AppError, invalidValue, notFound } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { requireMoment } from '../require-moment.ts'
import type { AdjustmentScope, OfferedAdjustment } from './offered-adjustment.ts'
import {
  listAdjustments,
  readAdjustment,
  type AdjustmentFilter,
  type AdjustmentPage,
} from './read-adjustments.ts'
import { insertAdjustment, updateEnd, withdrawAdjustment } from './write-adjustment.ts'

type Members = Readonly<Record<string, unknown>>

/** What the catalog knows of prices. */
export interface AdjustmentRules {
  /**
   * Returns what is stored of the terms. Throws `invalid_value` unless they can be applied: to the named model, with each of its price
   * lists of now and of the future.
   */
  checkTerms(given: Members, model: string | null): unknown
}

export interface AdjustmentInput extends AdjustmentScope {
  /** `percent` or `per_unit`. */
  readonly given: Members
  /** Null: at once. */
  readonly effectiveFromMs: number | null
  /** Null: it has no end. */
  readonly effectiveUntilMs: number | null
  readonly authorKeyId: string | null
  readonly reason: string | null
}

/** A change that is checked and not made yet. */
export interface AdjustmentChange {
  /** What differs, for the audit log. */
  readonly difference: Members
  /** Writes the change, together with others. Returns the version of the offer. */
  write(transaction: Queryable): Promise<bigint>
  /** Makes the change. Returns the version of the offer when every process uses it. */
  make(): Promise<bigint>
}

/** Changes of markups and discounts. */
export interface AdjustmentChanges {
  add(input: AdjustmentInput): Promise<AdjustmentChange>
  /** Moves the end of one that has not ended. Null: it has none. */
  changeEnd(version: bigint, effectiveUntilMs: number | null): Promise<AdjustmentChange>
  /** Ends it now, or withdraws it before it has effect. */
  end(version: bigint): Promise<AdjustmentChange>
  find(version: bigint): Promise<OfferedAdjustment>
  /** All that ever were, the latest first. */
  list(filter: AdjustmentFilter): Promise<AdjustmentPage>
}

interface AdjustmentChangesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly rules: AdjustmentRules
  readonly change: (write: (transaction: Queryable) => Promise<bigint>) => Promise<bigint>
}

export function createAdjustmentChanges(options: AdjustmentChangesOptions): AdjustmentChanges {
  const { database, clock, rules, change } = options
  const floorNow = (): number => Math.floor(clock.nowMs())
  const find = async (version: bigint): Promise<OfferedAdjustment> => {
    const found = await readAdjustment(database, version)
    if (found === undefined) throw notFound('price adjustment')
    return found
  }
  const planned = (difference: Members, write: AdjustmentChange['write']): AdjustmentChange => ({
    difference,
    write,
    make: () => change(write),
  })

  return {
    find,
    list: (filter) => listAdjustments(database, filter),
    add: async ({ effectiveFromMs, ...input }) => {
      if (input.accountId !== null && input.projectId !== null)
        throw invalidValue('project_id', 'Give an account or a project. A project belongs to one account.')
      const terms = rules.checkTerms(input.given, input.model)
      const { effectiveUntilMs, given } = input
      requireMoments(effectiveFromMs, effectiveUntilMs, clock.nowMs())
      const difference = {
        ...describeScope(input),
        ...given,
        effective_from: isoOf(effectiveFromMs),
        effective_until: isoOf(effectiveUntilMs),
        reason: input.reason,
      }
      return planned(addedTo(difference), (transaction) => {
        const nowMs = floorNow()
        requireMoments(effectiveFromMs, effectiveUntilMs, nowMs)
        return insertAdjustment(
          transaction,
          { ...input, terms, effectiveFromMs: effectiveFromMs ?? nowMs },
          nowMs,
        )
      })
    },
    changeEnd: async (version, effectiveUntilMs) => {
      const found = await find(version)
      requireOpen(found, clock.nowMs())
      requireMoments(
        found.effectiveFromMs > clock.nowMs() ? found.effectiveFromMs : null,
        effectiveUntilMs,
        clock.nowMs(),
      )
      const end = { from: isoOf(found.effectiveUntilMs), to: isoOf(effectiveUntilMs) }
      return planned({ ...describeScope(found), ...found.given, effective_until: end }, (transaction) =>
        updateEnd(transaction, found, { endMs: effectiveUntilMs, nowMs: floorNow() }),
      )
    },
    end: async (version) => {
      const found = await find(version)
      requireOpen(found, clock.nowMs())
      const isOfFuture = found.effectiveFromMs > clock.nowMs()
      const ended = isOfFuture
        ? { withdrawn: { from: null, to: true } }
        : { effective_until: { from: isoOf(found.effectiveUntilMs), to: isoOf(floorNow()) } }
      return planned({ ...describeScope(found), ...found.given, ...ended }, (transaction) => {
        const nowMs = floorNow()
        return found.effectiveFromMs > nowMs
          ? withdrawAdjustment(transaction, found, nowMs)
          : updateEnd(transaction, found, { endMs: nowMs, nowMs })
      })
    },
  }
}

function requireMoments(fromMs: number | null, untilMs: number | null, nowMs: number): void {
  requireMoment('effective_from', fromMs, nowMs)
  requireMoment('effective_until', untilMs, nowMs)
  if (untilMs !== null && fromMs !== null && untilMs <= fromMs)
    throw invalidValue('effective_until', 'It ends before it begins.')
}

function requireOpen({ effectiveUntilMs, withdrawnAtMs }: OfferedAdjustment, nowMs: number): void {
  if (withdrawnAtMs !== null || (effectiveUntilMs !== null && effectiveUntilMs <= nowMs))
    throw new AppError('conflict', 'This price adjustment has ended. Add another one.')
}

function describeScope({ accountId, projectId, model }: AdjustmentScope): Members {
  return Object.fromEntries(
    Object.entries({ account_id: accountId, project_id: projectId, model }).filter(
      ([, value]) => value !== null,
    ),
  )
}

function addedTo(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, { from: null, to: value }]],
    ),
  )
}

function isoOf(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString()
}
