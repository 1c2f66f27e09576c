import type { OpenPage, PageRequest } from '../../kernel/page.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Caller } from '../keys/keys.ts'
import { budgetActorOf } from './budget-actor.ts'
import type { Budget, BudgetRaise } from './budget-record.ts'
import { createBudgetRequests, type BudgetRequests } from './budget-requests.ts'
import { subjectText, type Subject } from '../ledger/ledger.ts'
import {
  BUDGETS_OF_SUBJECT_MAX,
  changeBudget,
  createBudget,
  deleteBudget,
  raiseBudget,
  type BudgetChanges,
  type BudgetOptions,
  type NewBudget,
} from './change-budgets.ts'
import { listWarnings, readWarning, type BudgetWarning } from './budget-warning.ts'
import { findSubjectProject } from './find-subject.ts'
import type { QueueWarning } from './raise-warnings.ts'
import { startBudgetSweep } from './sweep-budgets.ts'
import { listBudgets, readBudget, type BudgetFilter } from './read-budgets.ts'

export { limitNow, type Budget } from './budget-record.ts'
export type { BudgetWarning } from './budget-warning.ts'
export { sweepOldBudgets } from './sweep-budgets.ts'
export type { BudgetRequest } from './budget-requests.ts'
export type { BudgetChanges } from './change-budgets.ts'

/**
 * Limits on spending by account, project, group, person, service account, key or tag. Every request passes all of them (`ledger`). Every
 * function throws `not_found` for a budget that the caller does not see.
 */
export interface Budgets {
  /** Returns when the budget holds in every process. What was spent before in its present window counts. */
  create(caller: Caller, order: NewBudget): Promise<Budget>
  read(caller: Caller, budgetId: string): Promise<Budget>
  /** Newest first. */
  list(caller: Caller, page: PageRequest, filter: BudgetFilter): Promise<OpenPage<Budget>>
  /** The budgets of a subject by month and for all models; newest first. */
  listMonthly(
    caller: Caller,
    subject: Subject,
    filter: { readonly isHard: boolean },
  ): Promise<readonly Budget[]>
  change(caller: Caller, budgetId: string, changes: BudgetChanges): Promise<Budget>
  /** Adds an amount to the limit until a time. Null ends the raise. */
  raise(caller: Caller, budgetId: string, raise: BudgetRaise | null): Promise<Budget>
  delete(caller: Caller, budgetId: string): Promise<void>
  readonly requests: BudgetRequests
  /** The newest warnings of a budget first: one for each threshold and window. */
  listWarnings(caller: Caller, budgetId: string, page: PageRequest): Promise<OpenPage<BudgetWarning>>
  /** For what tells of it. */
  readWarning(accountId: string, warningId: string): Promise<BudgetWarning>
  close(): void
}

interface BudgetsOptions extends BudgetOptions {
  readonly logger: Logger
  readonly queueWarning: QueueWarning
  readonly canMail: boolean
  readonly sweepMs?: number
}

export function createBudgets(options: BudgetsOptions): Budgets {
  const { database, clock, ledger } = options
  const stopSweep = startBudgetSweep(options)
  return {
    create: (caller, order) => createBudget(options, caller, order),
    read: async (caller, budgetId) => {
      await ledger.postCharges()
      return readBudget(database, budgetActorOf(caller), budgetId, { nowMs: clock.nowMs() })
    },
    list: async (caller, page, filter) => {
      await ledger.postCharges()
      return listBudgets(database, budgetActorOf(caller), { ...page, ...filter, nowMs: clock.nowMs() })
    },
    listMonthly: async (caller, subject, { isHard }) => {
      await findSubjectProject(database, caller.accountId, subject)
      const filter = { subject: subjectText(subject), kind: null }
      const page = { limit: BUDGETS_OF_SUBJECT_MAX, afterId: null, nowMs: clock.nowMs() }
      const { items } = await listBudgets(database, budgetActorOf(caller), { ...page, ...filter })
      return items.filter(
        (budget) => budget.isHard === isHard && budget.period === 'month' && budget.models === null,
      )
    },
    change: (caller, budgetId, changes) => changeBudget(options, caller, budgetId, changes),
    raise: (caller, budgetId, raise) => raiseBudget(options, caller, budgetId, raise),
    delete: (caller, budgetId) => deleteBudget(options, caller, budgetId),
    requests: createBudgetRequests(options),
    listWarnings: async (caller, budgetId, page) => {
      const { id } = await readBudget(database, budgetActorOf(caller), budgetId, { nowMs: clock.nowMs() })
      return listWarnings(database, id, page)
    },
    readWarning: (accountId, warningId) => readWarning(database, accountId, warningId),
    close: stopSweep,
  }
}
