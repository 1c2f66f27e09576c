import { AppError, notFound } from '../../kernel/app-error.ts'
import { createId, isUuid } from '../../kernel/identifiers.ts'
import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import { ID_AFTER_ALL, openPage, type OpenPage, type PageRequest } from '../../kernel/page.ts'
import type { Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordChange, type AccountChange } from '../audit/audit.ts'
import type { Caller } from '../keys/keys.ts'
import { parseSubject, type Subject, type WindowPeriod } from '../ledger/ledger.ts'
import { budgetActorOf, requireLevel, type BudgetActor } from './budget-actor.ts'
import type { BudgetRaise } from './budget-record.ts'
import { raiseColumns, requireRaiseEnd, writeBudgetColumns, type BudgetOptions } from './change-budgets.ts'
import { readBudget } from './read-budgets.ts'

/** Somebody asks for more than a budget allows. */
export interface BudgetRequest {
  readonly id: string
  readonly budgetId: string
  /** What the budget limits, as it is stored with it. */
  readonly subject: Subject
  readonly period: WindowPeriod
  /** The limit of the budget today. */
  readonly limitNanoUsd: NanoUsd
  /** The e-mail address of the person, or the name of the service account or key. */
  readonly requestedByName: string | null
  readonly userId: string | null
  readonly keyId: string
  readonly amountNanoUsd: NanoUsd
  readonly untilMs: number
  readonly reason: string
  readonly status: 'pending' | 'approved' | 'refused'
  readonly decidedByUserId: string | null
  readonly decidedByKeyId: string | null
  readonly decidedAtMs: number | null
  readonly createdAtMs: number
}

interface NewBudgetRequest extends BudgetRaise {
  readonly budgetId: string
  readonly reason: string
}

export interface BudgetRequests {
  create(caller: Caller, order: NewBudgetRequest): Promise<BudgetRequest>
  /** Newest first: all that the caller may decide, and those it made. */
  list(
    caller: Caller,
    page: PageRequest,
    status: BudgetRequest['status'] | null,
  ): Promise<OpenPage<BudgetRequest>>
  /** Raises the budget by the amount, or by less, and returns when every process knows. */
  approve(caller: Caller, requestId: string, raise: Partial<BudgetRaise>): Promise<BudgetRequest>
  refuse(caller: Caller, requestId: string): Promise<BudgetRequest>
}

/** Open requests for one budget. */
const PENDING_MAX = 100

export function createBudgetRequests(options: BudgetOptions): BudgetRequests {
  const { database, clock, ledger } = options
  return {
    create: (caller, order) =>
      database.transaction(async (transaction) => {
        const actor = budgetActorOf(caller)
        const nowMs = clock.nowMs()
        requireRaiseEnd('until', order.untilMs, nowMs)
        const budget = await readBudget(transaction, actor, order.budgetId, { nowMs, isLocked: true })
        const [row] = await transaction.query<RequestRow>(
          `INSERT INTO budget_requests (id, account_id, budget_id, user_id, key_id, amount_nano_usd, until, reason, created_at)
           SELECT $1, $2, $3::uuid, $4, $5, $6, $7, $8, $9
           WHERE (SELECT count(*) FROM budget_requests WHERE budget_id = $3 AND status = 'pending') < $10
           RETURNING ${COLUMNS}`,
          [
            createId(nowMs),
            actor.accountId,
            budget.id,
            actor.userId,
            actor.keyId,
            order.amountNanoUsd,
            new Date(order.untilMs),
            order.reason,
            new Date(nowMs),
            PENDING_MAX,
          ],
        )
        if (row === undefined)
          throw new AppError('conflict', `There are ${PENDING_MAX} open requests for this budget.`)
        const data = { budget_id: wireId('budget', budget.id), amount_usd: formatUsd(order.amountNanoUsd) }
        await record(transaction, caller, 'budget_request.created', row.id, budget.projectId, { data })
        return requestFromRow(row)
      }),
    list: async (caller, { limit, afterId }, status) => {
      const actor = budgetActorOf(caller)
      const rows = await database.query<RequestRow>(
        `SELECT ${COLUMNS} FROM budget_requests
         WHERE account_id = $1 AND id < $2 AND ${isSeen(actor)} AND ($6::text IS NULL OR status = $6)
         ORDER BY id DESC LIMIT $7`,
        [
          actor.accountId,
          afterId ?? ID_AFTER_ALL,
          actor.keyId,
          actor.userId,
          actor.projectId,
          status,
          limit + 1,
        ],
      )
      return openPage(rows.map(requestFromRow), limit)
    },
    approve: async (caller, requestId, { amountNanoUsd, untilMs }) => {
      const request = await database.transaction(async (transaction) => {
        const nowMs = clock.nowMs()
        const { asked, budget } = await readPending(transaction, budgetActorOf(caller), requestId, nowMs)
        const raise = {
          amountNanoUsd: amountNanoUsd ?? asked.amountNanoUsd,
          untilMs: untilMs ?? asked.untilMs,
        }
        requireRaiseEnd('until', raise.untilMs, nowMs)
        if (budget.raise !== null)
          throw new AppError(
            'conflict',
            `The budget is raised until ${new Date(budget.raise.untilMs).toISOString()} already. Change that raise instead, or end it first.`,
          )
        const place = { accountId: caller.accountId, budgetId: budget.id }
        await writeBudgetColumns(transaction, place, raiseColumns(raise))
        return decide(transaction, caller, { asked, projectId: budget.projectId, status: 'approved', nowMs })
      })
      await ledger.announceChange(caller.accountId)
      return request
    },
    refuse: (caller, requestId) =>
      database.transaction(async (transaction) => {
        const nowMs = clock.nowMs()
        const { asked, budget } = await readPending(transaction, budgetActorOf(caller), requestId, nowMs)
        return decide(transaction, caller, { asked, projectId: budget.projectId, status: 'refused', nowMs })
      }),
  }
}

/** SQL: whoever manages the account sees all, whoever manages a project those for its budgets, and everybody their own. */
function isSeen({ level }: BudgetActor): string {
  const isOwn = '(key_id = $3 OR user_id = $4::uuid)'
  if (level === 'account') return `(${isOwn} OR $5::uuid IS NULL)`
  if (level === 'personal') return `(${isOwn} AND ($5::uuid IS NULL OR true))`
  return `(${isOwn} OR budget_id IN (SELECT id FROM budgets WHERE project_id = $5::uuid))`
}

/** Throws unless the request waits and the caller may change its budget. */
async function readPending(transaction: Queryable, actor: BudgetActor, requestId: string, nowMs: number) {
  const [row] = isUuid(requestId)
    ? await transaction.query<RequestRow>(
        `SELECT ${COLUMNS} FROM budget_requests WHERE id = $1 AND account_id = $2 FOR UPDATE`,
        [requestId, actor.accountId],
      )
    : []
  if (row === undefined) throw notFound('budget request')
  const asked = requestFromRow(row)
  // A budget out of sight is 404, and so is its request.
  const budget = await readBudget(transaction, actor, asked.budgetId, { nowMs, isLocked: true }).catch(
    (error: unknown) => {
      throw error instanceof AppError && error.code === 'not_found' ? notFound('budget request') : error
    },
  )
  if (actor.level === 'personal')
    throw new AppError('forbidden', 'Only somebody who manages budgets can decide about requests.')
  requireLevel(actor, budget)
  if (asked.status !== 'pending') throw new AppError('conflict', `This request is ${asked.status} already.`)
  return { asked, budget }
}

interface Decision {
  readonly asked: BudgetRequest
  readonly projectId: string | null
  readonly status: 'approved' | 'refused'
  readonly nowMs: number
}

async function decide(
  transaction: Queryable,
  caller: Caller,
  { asked, projectId, status, nowMs }: Decision,
): Promise<BudgetRequest> {
  const [row] = await transaction.query<RequestRow>(
    `UPDATE budget_requests SET status = $2, decided_by_user_id = $3, decided_by_key_id = $4, decided_at = $5
     WHERE id = $1 RETURNING ${COLUMNS}`,
    [asked.id, status, caller.userId ?? null, caller.keyId, new Date(nowMs)],
  )
  if (row === undefined) throw notFound('budget request')
  const type = status === 'approved' ? 'budget_request.approved' : 'budget_request.refused'
  await record(transaction, caller, type, asked.id, projectId, {
    changes_requested: { budget_id: wireId('budget', asked.budgetId), status },
  })
  return requestFromRow(row)
}

function record(
  transaction: Queryable,
  actor: Caller,
  type: AccountChange['type'],
  requestId: string,
  projectId: string | null,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  const resourceId = wireId('budgetRequest', requestId)
  return recordChange(transaction, { actor, type, projectId, resourceId, details })
}

interface RequestRow {
  readonly id: string
  readonly budget_id: string
  readonly subject: string
  readonly period: WindowPeriod
  readonly limit_nano_usd: bigint
  readonly requested_by_name: string | null
  readonly user_id: string | null
  readonly key_id: string
  readonly amount_nano_usd: bigint
  readonly until: Date
  readonly reason: string
  readonly status: BudgetRequest['status']
  readonly decided_by_user_id: string | null
  readonly decided_by_key_id: string | null
  readonly decided_at: Date | null
  readonly created_at: Date
}

const COLUMNS = `id, budget_id, user_id, key_id, amount_nano_usd, until, reason, status, decided_by_user_id, decided_by_key_id,
  decided_at, created_at,
  (SELECT subject FROM budgets b WHERE b.id = budget_id) AS subject,
  (SELECT period FROM budgets b WHERE b.id = budget_id) AS period,
  (SELECT limit_nano_usd FROM budgets b WHERE b.id = budget_id) AS limit_nano_usd,
  coalesce((SELECT u.email FROM users u WHERE u.id = budget_requests.user_id), (
    SELECT coalesce(s.name, k.name) FROM api_keys k LEFT JOIN service_accounts s ON s.id = k.service_account_id
    WHERE k.id = budget_requests.key_id)) AS requested_by_name`

function requestFromRow(row: RequestRow): BudgetRequest {
  return {
    id: row.id,
    budgetId: row.budget_id,
    subject: parseSubject(row.subject),
    period: row.period,
    limitNanoUsd: row.limit_nano_usd,
    requestedByName: row.requested_by_name,
    userId: row.user_id,
    keyId: row.key_id,
    amountNanoUsd: row.amount_nano_usd,
    untilMs: row.until.getTime(),
    reason: row.reason,
    status: row.status,
    decidedByUserId: row.decided_by_user_id,
    decidedByKeyId: row.decided_by_key_id,
    decidedAtMs: row.decided_at?.getTime() ?? null,
    createdAtMs: row.created_at.getTime(),
  }
}
