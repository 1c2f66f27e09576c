import { isDeepStrictEqual } from 'node:util'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Cap } from '../books/lend-credit.ts'
import type { Charged, Payer } from '../memory/memory-hold.ts'
import { windowAt, type WindowPeriod } from './budget-window.ts'
import { capsOfPayer, type BudgetLimits } from '../books/spend-caps.ts'
import { subjectsOf } from './subject.ts'

/** A budget that requests have to fit into, as a process knows it. */
export interface PathBudget {
  readonly id: string
  readonly subject: string
  /** Null counts every model. */
  readonly models: ReadonlySet<string> | null
  readonly period: WindowPeriod
  readonly limitNanoUsd: NanoUsd
  readonly raise: { readonly amountNanoUsd: NanoUsd; readonly untilMs: number } | null
}

/** A budget that changed. Null: requests do not have to fit into it any more. */
export interface ChangedBudget {
  readonly id: string
  readonly version: bigint
  readonly budget: PathBudget | null
}

/** The caps of one payer for one kind of request, and how long they are the same. */
interface KnownCaps {
  readonly labels: readonly string[]
  readonly sinceMs: number
  readonly untilMs: number
  readonly caps: readonly Cap[]
}

/** Kinds of requests of one payer that are remembered. */
const KINDS_MAX = 64

/** All budgets of one account that requests have to fit into. Never changes: a change of the account's budgets makes another one. */
export class PathBudgets {
  static readonly none = new PathBudgets([], new Map(), 0n)
  readonly #limits: BudgetLimits
  readonly #byId: ReadonlyMap<string, PathBudget>
  readonly #bySubject = new Map<string, PathBudget[]>()
  readonly #isByModel: boolean
  /** Caps are computed once for a caller, because every request of it has the same until a window ends. */
  readonly #known = new WeakMap<Payer, Map<string, KnownCaps>>()
  /** Every change of the account's budgets up to this one is known. */
  readonly version: bigint
  /** Whether the account has no budget, so that only caps of keys count. */
  readonly isEmpty: boolean

  private constructor(limits: BudgetLimits, byId: ReadonlyMap<string, PathBudget>, version: bigint) {
    this.#limits = limits
    this.#byId = byId
    this.version = version
    for (const budget of byId.values()) {
      const known = this.#bySubject.get(budget.subject)
      if (known === undefined) this.#bySubject.set(budget.subject, [budget])
      else known.push(budget)
    }
    this.#isByModel = byId.values().some(({ models }) => models !== null)
    this.isEmpty = limits.length === 0 && byId.size === 0
  }

  /** @param limits the daily and monthly budget that operators set for the account */
  with(limits: BudgetLimits, changed: readonly ChangedBudget[], upTo: bigint): PathBudgets {
    if (upTo <= this.version && changed.length === 0 && isDeepStrictEqual(limits, this.#limits)) return this
    const byId = new Map(this.#byId)
    let version = upTo > this.version ? upTo : this.version
    for (const { id, version: changedIn, budget } of changed) {
      if (budget === null) byId.delete(id)
      else byId.set(id, budget)
      if (changedIn > version) version = changedIn
    }
    return new PathBudgets(limits, byId, version)
  }

  /** All caps that apply to a request of this payer that begins at this time. */
  capsOf(payer: Payer, { model, labels }: Charged, atMs: number): readonly Cap[] {
    const kinds = this.#known.get(payer)
    const kind = this.#isByModel ? model : ''
    const known = kinds?.get(kind)
    if (known !== undefined && known.labels === labels && known.sinceMs <= atMs && atMs < known.untilMs)
      return known.caps
    const found = this.#find(payer, { model, labels }, atMs)
    if (kinds === undefined) this.#known.set(payer, new Map([[kind, found]]))
    else if (kinds.size < KINDS_MAX || kinds.has(kind)) kinds.set(kind, found)
    return found.caps
  }

  #find(payer: Payer, { model, labels }: Charged, atMs: number): KnownCaps {
    const { startMs, endMs } = windowAt('day', atMs)
    let sinceMs = startMs
    let untilMs = endMs
    const caps = [...capsOfPayer(payer, this.#limits, atMs)]
    for (const subject of subjectsOf(payer, labels)) {
      for (const budget of this.#bySubject.get(subject) ?? []) {
        if (budget.models !== null && !budget.models.has(model)) continue
        const raisedUntilMs = budget.raise?.untilMs ?? 0
        if (raisedUntilMs <= atMs) sinceMs = Math.max(sinceMs, raisedUntilMs)
        else untilMs = Math.min(untilMs, raisedUntilMs)
        caps.push(capOf(budget, atMs))
      }
    }
    return { labels, sinceMs, untilMs, caps }
  }
}

function capOf(budget: PathBudget, atMs: number): Cap {
  const { startDate, endMs } = windowAt(budget.period, atMs)
  const { id, subject, period, raise } = budget
  const raiseNanoUsd = raise !== null && atMs < raise.untilMs ? raise.amountNanoUsd : 0n
  return {
    scope: `budget:${id}:${startDate}`,
    limitNanoUsd: budget.limitNanoUsd + raiseNanoUsd,
    budget: { id, subject, period, resetsAtMs: Number.isFinite(endMs) ? endMs : null },
  }
}
