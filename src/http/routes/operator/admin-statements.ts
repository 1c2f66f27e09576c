import { Type } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import {
  monthOf,
  MOVEMENT_KINDS,
  numberText,
  parseMonth,
  type AccountStatement,
  type StatementMonth,
  type Statements,
} from '../../../modules/statements/statements.ts'
import { AccountId } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { csvRow } from '../../answers/csv-row.ts'
import { ListQuery, parsePageRequest } from '../../answers/list-page.ts'
import { sendCsv } from '../../answers/send-csv.ts'
import { defineRoute, type Route } from '../../route.ts'
import { StatementSummaryAnswer, summaryToWire } from '../account/statement-wire.ts'
import {
  FormatField,
  sendStatement,
  STATEMENT_RESPONSE,
  type StatementRouteParts,
} from '../account/statements.ts'

const StatementsQuery = Type.Object({
  ...ListQuery.properties,
  month: Type.Optional(
    Type.String({
      maxLength: 16,
      description: 'A month of UTC: `2026-10`. The last one that has ended unless told.',
    }),
  ),
  format: Type.Optional(
    Type.Enum(['json', 'csv'], { default: 'json', description: 'JSON, or all accounts as a file (`csv`).' }),
  ),
})

const AccountStatementAnswer = Type.Object(
  {
    ...StatementSummaryAnswer.properties,
    account_id: AccountId,
    account_name: Type.String({ description: 'The name of the account.' }),
  },
  { title: 'AccountStatement' },
)

const Params = Type.Object({
  id: Type.String({ description: 'The id of an account.' }),
  month: Type.String({ maxLength: 16, description: 'A month of UTC: `2026-10`.' }),
})

interface AdminStatementParts extends StatementRouteParts {
  readonly statements: Statements
  readonly accounts: Pick<Accounts, 'read'>
  readonly clock: Clock
}

const shared = { method: 'GET', tag: 'Operator', access: ofGateway('gateway.read') } as const

/** Statements of all accounts, for operators. */
export const adminStatementRoutes = ({ accounts, clock, ...parts }: AdminStatementParts): Route[] => [
  defineRoute({
    ...shared,
    path: '/v1/admin/statements',
    summary: 'List the statements of a month',
    query: StatementsQuery,
    responses: {
      200: {
        description: 'The accounts with a movement or a balance, by their ids.',
        schema: Type.Object({
          object: Type.Literal('list'),
          month: Type.String({ description: 'The month.' }),
          data: Type.Array(AccountStatementAnswer, { description: 'The entries of this page, in order.' }),
          has_more: Type.Boolean({ description: 'Whether there is a further page.' }),
          next_cursor: Type.Union([Type.String(), Type.Null()], {
            description: 'Send it as `after` for the next page.',
          }),
        }),
        otherTypes: { 'text/csv': Type.String({ description: 'One row an account.' }) },
      },
    },
    handle: async ({ query, reply, exchange: { cancellation } }) => {
      const month = parseWanted(query.month, clock.nowMs())
      if (query.format === 'csv') {
        const pieces = writeAccountsCsv(parts.statements, month)
        const { logger } = parts
        return sendCsv(reply, { name: `statements-${month.name}.csv`, pieces, logger, cancellation })
      }
      const { items, hasMore } = await parts.statements.listOfAccounts(month, parsePageRequest(query))
      return {
        object: 'list',
        month: month.name,
        data: items.map(toWire),
        has_more: hasMore,
        next_cursor: hasMore ? (items.at(-1)?.id ?? null) : null,
      }
    },
  }),
  defineRoute({
    ...shared,
    path: '/v1/admin/accounts/:id/statements/:month',
    summary: 'Read a statement of an account',
    params: Params,
    query: Type.Object({ format: FormatField }),
    otherErrors: [404, 503],
    responses: { 200: STATEMENT_RESPONSE },
    handle: async (request) => {
      const { id: accountId } = await accounts.read(request.params.id)
      const place = { accountId, projectId: null }
      const statement = await parts.statements.read(place, request.params.month)
      const { format } = request.query
      return sendStatement(parts, request, { statement, place, seesMovements: true, format })
    },
  }),
]

function parseWanted(text: string | undefined, nowMs: number): StatementMonth {
  if (text === undefined) return monthOf(monthOf(nowMs).fromMs - 1)
  const month = parseMonth(text)
  if (month === null) throw invalidValue('month', 'month must be written as 2026-10.')
  return month
}

function toWire({ id, accountName, summary }: AccountStatement) {
  return { ...summaryToWire(summary), account_id: id, account_name: accountName }
}

const ACCOUNTS_AT_ONCE = 200

async function* writeAccountsCsv(statements: Statements, month: StatementMonth): AsyncGenerator<string> {
  yield csvRow([
    'month',
    'status',
    'number',
    'account_id',
    'account',
    'opening_balance_usd',
    ...MOVEMENT_KINDS.map((kind) => `${kind}_usd`),
    'closing_balance_usd',
  ])
  let afterId: string | null = null
  for (;;) {
    const { items, hasMore } = await statements.listOfAccounts(month, { limit: ACCOUNTS_AT_ONCE, afterId })
    yield items.map(accountToCsv).join('')
    afterId = items.at(-1)?.id ?? null
    if (!hasMore) return
  }
}

function accountToCsv({ id, accountName, summary }: AccountStatement): string {
  const { month, isClosed, number, balance } = summary
  return csvRow([
    month.name,
    isClosed ? 'closed' : 'open',
    number === null ? null : numberText(number),
    id,
    accountName,
    { nanoUsd: balance?.openingNanoUsd ?? 0n },
    ...MOVEMENT_KINDS.map((kind) => ({ nanoUsd: balance?.sums[kind] ?? 0n })),
    { nanoUsd: balance?.closingNanoUsd ?? 0n },
  ])
}
