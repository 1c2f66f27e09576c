import { AppError, invalidValue } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import {
  bumpBudgetsVersion,
  countEarlierSpending,
  subjectText,
  type Ledger,
  type Subject,
  type WindowPeriod,
} from '../ledger/ledger.ts'
import { budgetActorOf, requireLevel, requireReach } from './budget-actor.ts'
import type { Budget, BudgetNotice, BudgetRaise } from './budget-record.ts'
import { findSubjectProject } from './find-subject.ts'
import { readBudget } from './read-budgets.ts'

export interface BudgetOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'announceChange' | 'postCharges'>
  /** Throws for an address that could never be called. */
  readonly checkWebhookUrl: (url: string) => Promise<void>
}

export interface NewBudget extends BudgetChanges {
  readonly subject: Subject
  readonly models: readonly string[] | null
  readonly period: WindowPeriod
  readonly limitNanoUsd: NanoUsd
}

/** Absent members stay as they are. */
export interface BudgetChanges extends Partial<BudgetNotice> {
  readonly limitNanoUsd?: NanoUsd
  readonly isHard?: boolean
}

/** The budgets of one subject. Requests pass all of them. */
export const BUDGETS_OF_SUBJECT_MAX = 10
/** The budgets of one account. */
const BUDGETS_MAX = 100_000
const RAISE_MS_MAX = 366 * 24 * 3_600_000

/** Makes a budget and returns when it holds in every process. What was spent before in its present window counts. */
export async function createBudget(
  options: BudgetOptions,
  caller: Caller,
  order: NewBudget,
): Promise<Budget> {
  const { database, clock, ledger } = options
  const actor = budgetActorOf(caller)
  const { accountId } = actor
  await checkWebhook(options, order)
  const id = await database.transaction(async (transaction) => {
    const projectId = await findSubjectProject(transaction, accountId, order.subject)
    requireReach(actor, order.subject, projectId)
    const version = await bumpBudgetsVersion(transaction, accountId)
    const subject = subjectText(order.subject)
    await requireRoom(transaction, accountId, subject)
    const { isHard = true, webhook = null } = order
    const newId = createId(clock.nowMs())
    await transaction.query(INSERT, [
      newId,
      accountId,
      subject,
      order.models === null ? null : [...new Set(order.models)].toSorted(),
      order.period,
      order.limitNanoUsd,
      isHard,
      actor.level,
      projectId,
      order.thresholdsPercent ?? (isHard ? THRESHOLDS_OF_HARD : THRESHOLDS_OF_SOFT),
      webhook?.url ?? null,
      webhook?.form ?? null,
      order.emailRecipients ?? [],
      order.emailSubjectPrefix ?? null,
      version,
      actor.userId,
      actor.keyId,
      new Date(clock.nowMs()),
    ])
    const data = { subject, window: order.period, limit_usd: formatUsd(order.limitNanoUsd), is_hard: isHard }
    await record(transaction, caller, 'budget.created', { id: newId, projectId }, { data })
    return newId
  })
  await countEarlierSpending(database, id)
  await ledger.announceChange(accountId)
  return readBudget(database, actor, id, { nowMs: clock.nowMs() })
}

/** Below 100, because requests are refused before a budget is fully spent. */
const THRESHOLDS_OF_HARD: readonly number[] = [80, 95]
const THRESHOLDS_OF_SOFT: readonly number[] = [100]

export async function changeBudget(
  options: BudgetOptions,
  caller: Caller,
  budgetId: string,
  changes: BudgetChanges,
): Promise<Budget> {
  await checkWebhook(options, changes)
  return change(options, caller, budgetId, 'budget.updated', (budget) => {
    const { webhook = budget.webhook } = changes
    const next = { ...budget, ...changes }
    return {
      columns: {
        limit_nano_usd: next.limitNanoUsd,
        is_hard: next.isHard,
        thresholds_percent: next.thresholdsPercent,
        webhook_url: webhook?.url ?? null,
        webhook_form: webhook?.form ?? null,
        email_recipients: next.emailRecipients,
        email_subject_prefix: next.emailSubjectPrefix,
      },
      details: { limit_usd: formatUsd(next.limitNanoUsd), is_hard: next.isHard },
    }
  })
}

/** Adds an amount to the limit until a time. Null ends the raise. */
export function raiseBudget(
  options: BudgetOptions,
  caller: Caller,
  budgetId: string,
  raise: BudgetRaise | null,
): Promise<Budget> {
  if (raise !== null) requireRaiseEnd('until', raise.untilMs, options.clock.nowMs())
  return change(options, caller, budgetId, raise === null ? 'budget.updated' : 'budget.raised', () =>
    raiseColumns(raise),
  )
}

export function raiseColumns(raise: BudgetRaise | null): ChangedColumns {
  return {
    columns: {
      raise_nano_usd: raise?.amountNanoUsd ?? null,
      raise_until: raise === null ? null : new Date(raise.untilMs),
    },
    details: {
      raise:
        raise === null
          ? null
          : {
              amount_usd: formatUsd(raise.amountNanoUsd),
              until: new Date(raise.untilMs).toISOString(),
            },
    },
  }
}

export function requireRaiseEnd(param: string, untilMs: number, nowMs: number): void {
  if (untilMs > nowMs && untilMs <= nowMs + RAISE_MS_MAX) return
  throw invalidValue(param, `${param} must be in the future, at most 366 days ahead.`)
}

export async function deleteBudget(options: BudgetOptions, caller: Caller, budgetId: string): Promise<void> {
  await change(options, caller, budgetId, 'budget.deleted', () => ({
    columns: { deleted_at: new Date(options.clock.nowMs()) },
    details: {},
  }))
}

export interface ChangedColumns {
  readonly columns: Readonly<Record<string, unknown>>
  /** For the audit log. */
  readonly details: Readonly<Record<string, unknown>>
}

/** Changes a budget that the caller may change, and returns it when every process knows. */
async function change(
  { database, clock, ledger }: BudgetOptions,
  caller: Caller,
  budgetId: string,
  type: AccountChange['type'],
  decide: (budget: Budget) => ChangedColumns,
): Promise<Budget> {
  const actor = budgetActorOf(caller)
  const nowMs = clock.nowMs()
  const changed = await database.transaction(async (transaction) => {
    const budget = await readBudget(transaction, actor, budgetId, { nowMs, isLocked: true })
    requireLevel(actor, budget)
    const decided = decide(budget)
    await writeBudgetColumns(transaction, { accountId: actor.accountId, budgetId: budget.id }, decided)
    const details = type === 'budget.deleted' ? {} : { changes_requested: decided.details }
    await record(transaction, caller, type, budget, details)
    return type === 'budget.deleted' ? budget : readBudget(transaction, actor, budget.id, { nowMs })
  })
  await ledger.announceChange(actor.accountId)
  return changed
}

/** Every change gets a version, so that processes read only what changed. */
export async function writeBudgetColumns(
  transaction: Queryable,
  { accountId, budgetId }: { readonly accountId: string; readonly budgetId: string },
  { columns }: ChangedColumns,
): Promise<void> {
  const version = await bumpBudgetsVersion(transaction, accountId)
  const names = Object.keys(columns)
  const assignments = names.map((name, index) => `${name} = $${index + 3}`)
  await transaction.query(
    `UPDATE budgets SET ${[...assignments, 'version = $2', 'updated_at = now()'].join(', ')} WHERE id = $1`,
    [budgetId, version, ...Object.values(columns)],
  )
}

function record(
  transaction: Queryable,
  actor: Caller,
  type: AccountChange['type'],
  { id, projectId }: Pick<Budget, 'id' | 'projectId'>,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return recordChange(transaction, { actor, type, projectId, resourceId: wireId('budget', id), details })
}

async function requireRoom(transaction: Queryable, accountId: string, subject: string): Promise<void> {
  const [count] = await transaction.query<{ of_subject: bigint; in_all: bigint }>(
    `SELECT count(*) FILTER (WHERE subject = $2) AS of_subject, count(*) AS in_all
     FROM budgets WHERE account_id = $1 AND deleted_at IS NULL`,
    [accountId, subject],
  )
  if ((count?.of_subject ?? 0n) >= BUDGETS_OF_SUBJECT_MAX)
    throw new AppError(
      'conflict',
      `There are ${BUDGETS_OF_SUBJECT_MAX} budgets of this subject, and no more are possible.`,
    )
  if ((count?.in_all ?? 0n) >= BUDGETS_MAX)
    throw new AppError('conflict', `An account has at most ${BUDGETS_MAX} budgets.`)
}

async function checkWebhook(
  { checkWebhookUrl }: BudgetOptions,
  { webhook = null }: Pick<BudgetChanges, 'webhook'>,
): Promise<void> {
  if (webhook !== null) await checkWebhookUrl(webhook.url)
}

const INSERT = `
  INSERT INTO budgets (id, account_id, subject, models, period, limit_nano_usd, is_hard, level, project_id, thresholds_percent,
    webhook_url, webhook_form, email_recipients, email_subject_prefix, version, created_by_user_id, created_by_key_id, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`
