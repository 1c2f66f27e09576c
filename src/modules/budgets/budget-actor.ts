import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Caller } from '../keys/keys.ts'
import type { Subject } from '../ledger/ledger.ts'
import type { BudgetLevel } from './budget-record.ts'

/** Who sees and changes budgets, and how far that reaches. */
export interface BudgetActor {
  readonly accountId: string
  readonly level: BudgetLevel
  /** Of the key. */
  readonly projectId: string | null
  readonly keyId: string
  readonly userId: string | null
}

export function budgetActorOf(caller: Caller): BudgetActor {
  const { accountId, projectId, keyId, userId = null, permissions } = caller
  const manages = permissions.has('budgets.manage') || permissions.has('gateway.manage')
  const level = !manages ? 'personal' : projectId === null ? 'account' : 'project'
  return { accountId, level, projectId, keyId, userId }
}

/** The subjects whose budgets limit the actor, and so the only ones that somebody without rights to manage budgets sees. */
export function ownSubjects(actor: BudgetActor): string[] {
  const { accountId, projectId, keyId, userId } = actor
  const subjects = ['account', `project:${projectId ?? accountId}`, `key:${keyId}`]
  return userId === null ? subjects : [...subjects, `user:${userId}`]
}

/** SQL: whether the actor sees the budget in this row. */
export function isVisible({ level }: BudgetActor, project: string, subjects: string): string {
  switch (level) {
    case 'account':
      return `(${project}::uuid IS NULL OR true) AND (${subjects}::text[] IS NULL OR true)`
    case 'project':
      return `(project_id = ${project}::uuid OR subject = ANY (${subjects}::text[]))`
    case 'personal':
      return `(${project}::uuid IS NULL OR true) AND subject = ANY (${subjects}::text[])`
  }
}

/** Levels from the one that may change most. */
const LEVELS: readonly BudgetLevel[] = ['account', 'project', 'personal']

/** Throws if the budget was made by somebody with more rights: a person does not raise what they were given. */
export function requireLevel(actor: BudgetActor, budget: { readonly level: BudgetLevel }): void {
  if (LEVELS.indexOf(budget.level) >= LEVELS.indexOf(actor.level)) return
  throw new AppError(
    'forbidden',
    'This budget was given by somebody with more rights. Ask for more with a budget request.',
  )
}

/** Throws if the actor cannot make budgets for this subject. A subject out of sight is 404. */
export function requireReach(actor: BudgetActor, subject: Subject, projectId: string | null): void {
  switch (actor.level) {
    case 'account':
      return
    case 'project':
      if (projectId !== null && projectId === actor.projectId) return
      if (projectId !== null) throw notFound('subject')
      throw new AppError(
        'forbidden',
        `A budget of ${subject.kind === 'account' ? 'the account' : `a ${subject.kind}`} reaches beyond the project. Use a key of the account.`,
      )
    case 'personal':
      if (subject.kind === 'user' && subject.value === actor.userId) return
      if (subject.kind === 'key' && subject.value === actor.keyId) return
      throw new AppError('forbidden', 'You can set budgets only for yourself and for the key that you use.')
  }
}
