import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { isVisible, type BudgetActor } from './budget-actor.ts'
import { budgetColumns, budgetFromRow, type Budget, type BudgetRow } from './budget-record.ts'

export interface BudgetFilter {
  /** The text of a subject: `project:<id>`. */
  readonly subject: string | null
  readonly kind: string | null
}

/** Newest first. */
export async function listBudgets(
  queryable: Queryable,
  actor: BudgetActor,
  { limit, afterId, subject, kind, nowMs }: PageRequest & BudgetFilter & { readonly nowMs: number },
): Promise<OpenPage<Budget>> {
  const rows = await queryable.query<BudgetRow>(
    `SELECT ${budgetColumns('$5')} FROM budgets
     WHERE account_id = $1 AND deleted_at IS NULL AND id < $2 AND ${isVisible(actor, '$3', '$4')}
       AND ($6::text IS NULL OR subject = $6) AND ($7::text IS NULL OR split_part(subject, ':', 1) = $7)
     ORDER BY id DESC LIMIT $8`,
    [
      actor.accountId,
      afterId ?? ID_AFTER_ALL,
      actor.projectId,
      actor.subjects,
      new Date(nowMs),
      subject,
      kind,
      limit + 1,
    ],
  )
  return openPage(
    rows.map((row) => budgetFromRow(row, nowMs)),
    limit,
  )
}

/** Throws `not_found` for a budget that the actor does not see. */
export async function readBudget(
  queryable: Queryable,
  actor: BudgetActor,
  budgetId: string,
  { nowMs, isLocked = false }: { readonly nowMs: number; readonly isLocked?: boolean },
): Promise<Budget> {
  const [row] = isUuid(budgetId)
    ? await queryable.query<BudgetRow>(
        `SELECT ${budgetColumns('$5')} FROM budgets
         WHERE id = $2 AND account_id = $1 AND deleted_at IS NULL AND ${isVisible(actor, '$3', '$4')}
         ${isLocked ? 'FOR UPDATE' : ''}`,
        [actor.accountId, budgetId, actor.projectId, actor.subjects, new Date(nowMs)],
      )
    : []
  if (row === undefined) throw notFound('budget')
  return budgetFromRow(row, nowMs)
}
