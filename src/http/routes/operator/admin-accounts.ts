import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { Logger } from '../../../kernel/logger.ts'
import { ACCOUNT_SORTS, type AccountFilter, type Accounts } from '../../../modules/accounts/accounts.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import { ListQuery, listSchema, PAGE_LIMIT_DEFAULT } from '../../answers/list-page.ts'
import { sendCsv } from '../../answers/send-csv.ts'
import { parseUsd, USD_MAX } from '../../parameters/parse-usd.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  AccountAnswer,
  AccountCreateBody,
  accountToWire,
  AccountUpdateBody,
  ListedAccountAnswer,
  listedToWire,
  SuspendBody,
  writeAccountsCsv,
} from './admin-account-wire.ts'

const AccountParams = Type.Object({ id: Type.String({ description: 'The id of an account.' }) })
const AccountsQuery = Type.Object({
  ...ListQuery.properties,
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Part of the name, the id of an account, or the visible beginning of one of its keys.',
    }),
  ),
  status: Type.Optional(Type.Enum(['active', 'suspended'], { description: 'Only accounts of this status.' })),
  sort: Type.Optional(
    Type.Enum([...ACCOUNT_SORTS], {
      default: 'created',
      description:
        'What accounts are sorted by: `spend` is that of the last 30 days, `growth` what it is more than that of the 30 days before, `errors` the requests that failed in 30 days.',
    }),
  ),
  order: Type.Optional(
    Type.Enum(['asc', 'desc'], { default: 'desc', description: 'Upwards, or the largest first.' }),
  ),
  min: Type.Optional(
    Type.Number({
      minimum: -USD_MAX,
      maximum: USD_MAX,
      description:
        'Only accounts whose figure is at least this, in dollars or failed requests. It is the figure that they are sorted by.',
    }),
  ),
  max: Type.Optional(
    Type.Number({
      minimum: -USD_MAX,
      maximum: USD_MAX,
      description: 'Only accounts whose figure is at most this.',
    }),
  ),
  format: Type.Optional(
    Type.Enum(['json', 'csv'], {
      default: 'json',
      description: 'A page as JSON, or all accounts that match as a file (`csv`).',
    }),
  ),
})

interface AdminAccountModules {
  readonly accounts: Accounts
  readonly audit: Audit
  readonly logger: Logger
}

const shared = { tag: 'Operator' } as const

const accountTarget = (id: string | null) => ({ kind: 'account', id })

export const adminAccountRoutes = ({ accounts, audit, logger }: AdminAccountModules): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/admin/accounts',
    access: ofGateway('gateway.read'),
    summary: 'List accounts',
    query: AccountsQuery,
    responses: {
      200: {
        description: 'The accounts in the order of the query, newest first if it names none.',
        schema: listSchema('accounts', ListedAccountAnswer),
        otherTypes: { 'text/csv': Type.String({ description: 'One row an account.' }) },
      },
    },
    handle: async ({ query, reply, exchange: { cancellation } }) => {
      const { sort = 'created', order = 'desc', limit, after = null } = query
      const filter = parseFilter(query)
      if (query.format === 'csv') {
        const pieces = writeAccountsCsv(accounts.walk({ sort, order }, filter))
        return sendCsv(reply, { name: 'accounts.csv', pieces, logger, cancellation })
      }
      const page = await accounts.list({ limit: limit ?? PAGE_LIMIT_DEFAULT, after, sort, order }, filter)
      const data = page.items.map(listedToWire)
      return {
        object: 'list',
        data,
        accounts: data,
        total: page.total,
        has_more: page.hasMore,
        next_cursor: page.nextCursor,
      }
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/admin/accounts',
    access: ofGateway('gateway.manage'),
    summary: 'Create an account',
    body: AccountCreateBody,
    responses: { 201: { description: 'The account, without a key yet.', schema: AccountAnswer } },
    handle: async ({ caller, body, reply }) => {
      const creditNanoUsd = parseUsd('credit_usd', body.credit_usd ?? 0)
      const details = { name: body.name, credit_usd: body.credit_usd ?? 0 }
      const account = await audit.run(
        { actor: caller, action: 'account.create', target: accountTarget(null), details },
        () => accounts.create({ name: body.name, creditNanoUsd }),
      )
      reply.code(201)
      return accountToWire(account)
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/admin/accounts/:id',
    access: ofGateway('gateway.read'),
    summary: 'Read an account',
    params: AccountParams,
    responses: { 200: { description: 'The account.', schema: AccountAnswer } },
    handle: async ({ params }) => accountToWire(await accounts.read(params.id)),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/admin/accounts/:id/suspend',
    access: ofGateway('gateway.manage'),
    summary: 'Suspend an account',
    params: AccountParams,
    body: SuspendBody,
    responses: {
      200: { description: 'Every process refuses the keys of the account.', schema: AccountAnswer },
    },
    handle: async ({ caller, params, body }) =>
      accountToWire(
        await audit.run(
          {
            actor: caller,
            action: 'account.suspend',
            target: accountTarget(params.id),
            details: body,
            readState: () => readStatus(accounts, params.id),
          },
          () => accounts.suspend(caller, params.id, body.reason ?? null),
        ),
      ),
  }),
  defineRoute({
    ...shared,
    method: 'PATCH',
    path: '/v1/admin/accounts/:id',
    access: ofGateway('gateway.manage'),
    summary: 'Write a note about an account',
    params: AccountParams,
    body: AccountUpdateBody,
    responses: { 200: { description: 'The account with its note.', schema: AccountAnswer } },
    handle: async ({ caller, params, body }) =>
      accountToWire(
        await audit.run(
          {
            actor: caller,
            action: 'account.update',
            target: accountTarget(params.id),
            // A note may hold what is not meant for all who read the log.
            details: { note: body.note === null ? 'removed' : 'written' },
          },
          () => accounts.setNote(params.id, body.note),
        ),
      ),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/admin/accounts/:id/activate',
    access: ofGateway('gateway.manage'),
    summary: 'Activate a suspended account',
    params: AccountParams,
    responses: { 200: { description: 'The keys of the account work again.', schema: AccountAnswer } },
    handle: async ({ caller, params }) =>
      accountToWire(
        await audit.run(
          {
            actor: caller,
            action: 'account.activate',
            target: accountTarget(params.id),
            readState: () => readStatus(accounts, params.id),
          },
          () => accounts.activate(caller, params.id),
        ),
      ),
  }),
]

function parseFilter({ search, status, sort, min, max }: Static<typeof AccountsQuery>): AccountFilter {
  const isFigure = sort !== undefined && sort !== 'created' && sort !== 'name'
  const parse = (name: 'min' | 'max', value: number | undefined): bigint | null => {
    if (value === undefined) return null
    if (!isFigure) throw invalidValue(name, `${name} needs a sort by balance, spend, growth or errors.`)
    if (sort !== 'errors') return parseUsd(name, value)
    return BigInt(name === 'min' ? Math.ceil(value) : Math.floor(value))
  }
  return {
    search: search ?? null,
    status: status ?? null,
    least: parse('min', min),
    most: parse('max', max),
  }
}

async function readStatus(accounts: Accounts, id: string) {
  const { status, suspendedReason } = await accounts.read(id)
  return { status, suspended_reason: suspendedReason }
}
