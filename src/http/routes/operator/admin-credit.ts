import { Type, type Static } from 'typebox'
import type { Logger } from '../../../kernel/logger.ts'
import { usdFromNanoUsd, type NanoUsd } from '../../../kernel/money.ts'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Billing } from '../../../modules/billing/billing.ts'
import type { BudgetPeriod, Ledger } from '../../../modules/ledger/ledger.ts'
import { orNull } from '../../../wires/nullable.ts'
import { AccountId, SHOWN_LINE } from '../../../wires/usual-members.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { parseUsd, USD_MAX } from '../../parameters/parse-usd.ts'
import { pickMembers } from '../../parameters/pick-members.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { sendEntries } from '../account/ledger.ts'
import { LEDGER_RESPONSE, LedgerQuery } from '../account/ledger-wire.ts'
import { PaymentAnswer, paymentToWire } from '../account/payment-wire.ts'
import { readOperatorKey } from './read-operator-key.ts'

const AccountParams = Type.Object({ id: Type.String({ description: 'The id of an account.' }) })

// Unknown members are refused, so that a misspelt limit is not ignored.
const CreditBody = Type.Object(
  {
    amount_usd: Type.Number({
      minimum: -USD_MAX,
      maximum: USD_MAX,
      description: 'What to give, or with a minus what to deduct.',
    }),
    reason: Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: SHOWN_LINE,
      description: 'Why, in words, without control characters.',
    }),
    class: Type.Optional(
      Type.Enum(['paid', 'promotional'], {
        description: '`paid` unless told. Promotional credit is spent first.',
      }),
    ),
    expires_at: Type.Optional(
      Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'When what is given expires. Null for never.',
      }),
    ),
  },
  { additionalProperties: false },
)

const CreditAnswer = Type.Object({
  ...PaymentAnswer.properties,
  account_id: AccountId,
  balance_usd: Type.Number({ description: 'Afterwards.' }),
})

const Limit = Type.Optional(
  Type.Union([Type.Number({ minimum: 0, maximum: USD_MAX }), Type.Null()], {
    description: 'What the account may spend in a period. Null sets no limit; absent leaves it as it is.',
  }),
)
// Unknown members are refused, so that a misspelt limit is not ignored.
const BudgetBody = Type.Object({ monthly_usd: Limit, daily_usd: Limit }, { additionalProperties: false })

const BudgetAnswer = Type.Object({
  account_id: AccountId,
  monthly_usd: orNull(Type.Number(), 'The budget of a month in US dollars. `null`: none.'),
  monthly_spent_usd: orNull(Type.Number(), 'What is spent in the current month.'),
  daily_usd: orNull(Type.Number(), 'The budget of a day in US dollars. `null`: none.'),
  daily_spent_usd: orNull(Type.Number(), 'What is spent on the current day.'),
})

interface AdminCreditModules {
  readonly accounts: Accounts
  readonly billing: Billing
  readonly ledger: Pick<Ledger, 'readBalance' | 'listEntries' | 'walkEntries' | 'setBudget' | 'readBudgets'>
  readonly audit: Audit
  readonly logger: Logger
}

const shared = { tag: 'Operator' } as const

/** Operator routes for the credit of an account. */
export const adminCreditRoutes = (modules: AdminCreditModules): Route[] => [
  ...creditRoutes(modules),
  ...budgetRoutes(modules),
]

const creditRoutes = ({ accounts, billing, ledger, audit, logger }: AdminCreditModules): Route[] => [
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/admin/accounts/:id/credit',
    access: ofGateway('gateway.manage'),
    needsConfirmation: true,
    summary: 'Give or deduct credit of an account',
    params: AccountParams,
    body: CreditBody,
    responses: { 201: { description: 'The credit has moved.', schema: CreditAnswer } },
    handle: async ({ caller, params, body, headers, reply }) => {
      const { expires_at: expiresAt = null } = body
      const idempotencyKey = readOperatorKey(caller.accountId, headers)
      const adjustment = {
        amountNanoUsd: parseUsd('amount_usd', body.amount_usd),
        reason: body.reason,
        class: body.class ?? 'paid',
        expiresAtMs: expiresAt === null ? null : parseTimestamp('expires_at', expiresAt),
        idempotencyKey,
        operator: caller,
      } as const
      const { id: accountId } = await accounts.read(params.id)
      const payment = await audit.run(
        {
          actor: caller,
          action: adjustment.amountNanoUsd < 0n ? 'credit.deduct' : 'credit.grant',
          target: { kind: 'account', id: accountId },
          details: body,
        },
        () => billing.adjust({ ...adjustment, accountId }),
      )
      const { balanceNanoUsd } = await ledger.readBalance(accountId)
      reply.code(201)
      return {
        ...paymentToWire(payment),
        account_id: accountId,
        balance_usd: usdFromNanoUsd(balanceNanoUsd),
      }
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/admin/accounts/:id/ledger',
    access: ofGateway('gateway.read'),
    summary: 'Read the ledger of an account',
    params: AccountParams,
    query: LedgerQuery,
    responses: { 200: LEDGER_RESPONSE },
    handle: async (request) => {
      const { id: accountId } = await accounts.read(request.params.id)
      return sendEntries({ ledger, logger }, request, accountId)
    },
  }),
]

const budgetRoutes = ({ accounts, ledger, audit }: AdminCreditModules): Route[] => {
  const readBudgets = async (accountId: string): Promise<Static<typeof BudgetAnswer>> => {
    const budgets = await ledger.readBudgets(accountId)
    const of = (wanted: BudgetPeriod) => budgets.find(({ period }) => period === wanted)
    return {
      account_id: accountId,
      monthly_usd: usdOrNull(of('month')?.limitNanoUsd),
      monthly_spent_usd: usdOrNull(of('month')?.spentNanoUsd),
      daily_usd: usdOrNull(of('day')?.limitNanoUsd),
      daily_spent_usd: usdOrNull(of('day')?.spentNanoUsd),
    }
  }

  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/admin/accounts/:id/budget',
      access: ofGateway('gateway.read'),
      summary: 'Read the budgets of an account',
      params: AccountParams,
      responses: { 200: { description: 'The budgets and what is spent of them.', schema: BudgetAnswer } },
      handle: async ({ params }) => readBudgets((await accounts.read(params.id)).id),
    }),
    defineRoute({
      ...shared,
      method: 'PATCH',
      path: '/v1/admin/accounts/:id/budget',
      access: ofGateway('gateway.manage'),
      summary: 'Set the budgets of an account',
      params: AccountParams,
      body: BudgetBody,
      responses: { 200: { description: 'The budgets as they now are.', schema: BudgetAnswer } },
      handle: async ({ caller, params, body }) => {
        const limits = [
          ['month', parseLimit('monthly_usd', body.monthly_usd)],
          ['day', parseLimit('daily_usd', body.daily_usd)],
        ] as const
        const { id: accountId } = await accounts.read(params.id)
        const target = { kind: 'account', id: accountId }
        const readState = async () => pickMembers(await readBudgets(accountId), Object.keys(body))
        await audit.run(
          { actor: caller, action: 'budget.set', target, details: body, readState },
          async () => {
            for (const [period, limit] of limits) {
              if (limit !== undefined) await ledger.setBudget(accountId, period, limit, caller)
            }
            return {}
          },
        )
        return readBudgets(accountId)
      },
    }),
  ]
}

function parseLimit(param: string, usd: number | null | undefined): NanoUsd | null | undefined {
  return usd === null || usd === undefined ? usd : parseUsd(param, usd)
}

function usdOrNull(amount: NanoUsd | undefined): number | null {
  return amount === undefined ? null : usdFromNanoUsd(amount)
}
