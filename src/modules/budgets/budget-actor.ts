import { AppError, notFound } from '../../kernel/app-error.ts'
import { mayRead, type Caller } from '../keys/keys.ts'
import { subjectsOf, type Subject } from '../ledger/ledger.ts'
import type { BudgetLevel } from './budget-record.ts'

/** Who sees and changes budgets, and how far that reaches. */
export interface BudgetActor {
  readonly accountId: string
  /** How far changes reach. */
  readonly level: BudgetLevel
  /** How far reading reaches. Everybody sees the budgets that limit them. */
  readonly sight: BudgetLevel
  /** Of the key. */
  readonly projectId: string | null
  readonly keyId: string
  readonly userId: string | null
  /** The subjects whose budgets limit the actor. */
  readonly subjects: readonly string[]
}

export function budgetActorOf(caller: Caller): BudgetActor {
  const { accountId, projectId, keyId, userId = null, permissions } = caller
  const wide = projectId === null ? 'account' : 'project'
  const manages = permissions.has('budgets.manage') || permissions.has('gateway.manage')
  const level = manages ? wide : 'personal'
  const sight = manages || mayRead(caller, 'usage.read') ? wide : 'personal'
  const labels = caller.groupIds.map((id) => `group:${id}`)
  return { accountId, level, sight, projectId, keyId, userId, subjects: [...subjectsOf(caller, labels)] }
}

/** SQL: whether the actor sees the budget in this row. Both parameters are used whatever the sight, so that they have types. */
export function isVisible({ sight }: BudgetActor, project: string, subjects: string): string {
  const isOwn = `subject = ANY (${subjects}::text[])`
  switch (sight) {
    case 'account':
      return `(${isOwn} OR ${project}::uuid IS NULL)`
    case 'project':
      return `(${isOwn} OR project_id = ${project}::uuid)`
    case 'personal':
      return `(${isOwn} AND coalesce(${project}::uuid, account_id) IS NOT NULL)`
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
