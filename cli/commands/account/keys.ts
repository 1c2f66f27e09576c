import type { GatewayClient } from '../../api/gateway-client.ts'
import { readPages } from '../../api/read-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseDate } from '../../input/parse-date.ts'
import { parseUsd, parseWhole } from '../../input/parse-number.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { printable } from '../../output/printable.ts'
import { rotate } from './rotate-key.ts'

const list = clientCommand<{ readonly limit: string; readonly all?: boolean }>({
  name: 'list',
  summary: 'List the keys of the account, newest first.',
  example: 'parkway keys list',
  define: (command) =>
    command
      .option('--limit <number>', 'how many', '100')
      .option('--all', 'also keys that are revoked or expired'),
  async act({ output, isJson, connect, printJsonLines }, { limit, all }) {
    const gateway = connect()
    const keys = await readPages(parseWhole('--limit', limit), (query) =>
      gateway.call((routes) => routes.GET('/v1/tenants/me/api-keys', { params: { query } })),
    )
    const shown = all === true ? keys : keys.filter((key) => key.is_active)
    if (isJson) return printJsonLines(shown)
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, isId: true },
        { title: 'key', of: (key) => key.key_prefix, rank: 2 },
        { title: 'env', of: ({ env }) => env, rank: 8 },
        { title: 'scopes', of: ({ scopes }) => scopes.join(','), rank: 7, isText: true },
        { title: 'spent', of: (key) => formatUsd(key.spent_usd), isNumber: true, rank: 3 },
        {
          title: 'limit',
          of: (key) => (key.limit_usd === null ? '-' : formatUsd(key.limit_usd)),
          isNumber: true,
          rank: 5,
        },
        { title: 'last used', of: (key) => key.last_used_at ?? '-', isTime: true, rank: 6 },
        {
          title: 'expires',
          of: (key) => (key.is_active ? (key.expires_at ?? '-') : 'ended'),
          isTime: true,
          rank: 4,
        },
        { title: 'name', of: ({ name }) => name, rank: 1, isText: true },
      ],
      shown,
    )
  },
})

interface CreateOptions {
  readonly name?: string
  readonly env?: 'live' | 'prod' | 'staging' | 'test' | 'dev'
  readonly scopes?: string
  readonly models?: string
  readonly limit?: string
  readonly daily?: string
  readonly monthly?: string
  readonly rate?: string
  readonly expires?: string
}

const create = clientCommand<CreateOptions>({
  name: 'create',
  summary: 'Make a key of the account and print it. It is shown this once.',
  example: 'parkway keys create --name "Nightly report" --scopes inference --limit 5 --expires 90d',
  define: (command) =>
    command
      .option('--name <text>', 'what it is for')
      .option('--env <name>', 'live, prod, staging, test or dev')
      .option('--scopes <list>', 'of inference, manage and admin, separated by commas')
      .option('--models <list>', 'the only models it may use, separated by commas')
      .option('--limit <dollars>', 'what it may spend in total')
      .option('--daily <dollars>', 'what it may spend in a day of UTC')
      .option('--monthly <dollars>', 'what it may spend in a month of UTC')
      .option('--rate <number>', 'how many requests it may make a minute')
      .option('--expires <time>', 'when it ends: a number of days such as 90d, or a date'),
  async act({ output, isJson, connect, printJson }, options) {
    const body = describeKey(options)
    const budgets = describeBudgets(options)
    const gateway = requireKey(connect)
    const key = await gateway.call((routes) => routes.POST('/v1/tenants/me/api-keys', { body }))
    await setBudgets(gateway, key.id, budgets)
    if (isJson) return printJson(key)
    // Only the key is data, so that scripts can read it.
    output.note(
      printable(
        `A key for ${key.env} with the scopes ${key.scopes.join(', ')}; its id is ${key.id}. It is shown this once: keep it.`,
      ),
    )
    output.line(printable(key.key))
  },
})

const revoke = clientCommand<{ readonly yes?: boolean }>({
  name: 'revoke',
  summary: 'End a key for good. Requests with it are refused from then on.',
  example: 'parkway keys revoke --yes 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command.argument('<key>', 'its id, not the key itself').option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes }, id = '') {
    const gateway = connect()
    const path = { params: { path: { id } } }
    const key = await gateway.call((routes) => routes.GET('/v1/tenants/me/api-keys/{id}', path))
    const account = await gateway.call((routes) => routes.GET('/v1/tenants/me'))
    const isOwn = account.key.id === id
    await requireConsent(
      printable(`Revoke ${key.key_prefix} (${key.name})${isOwn ? ', the key of this profile itself' : ''}?`),
      yes === true,
    )
    const revoked = await gateway.call((routes) => routes.DELETE('/v1/tenants/me/api-keys/{id}', path))
    if (isJson) return printJson(revoked)
    output.line(printable(`Revoked ${key.key_prefix} (${key.name}).`))
  },
})

/** A user without a key is probably the operator, so the advice also names the operator's command. */
function requireKey(connect: () => GatewayClient): GatewayClient {
  try {
    return connect()
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.exitCode !== EXIT.notSignedIn) throw error
    const advice = `${error.advice ?? ''} On the machine of the gateway, "parkway admin-key create" needs no key.`
    throw new CommandFailure(error.exitCode, error.message, advice.trim())
  }
}

function describeKey({ name, env, scopes, models, limit, rate, expires }: CreateOptions) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(env === undefined ? {} : { env }),
    // The gateway refuses scopes that it does not know, and names them.
    ...(scopes === undefined ? {} : { scopes: split(scopes) as ('inference' | 'manage' | 'admin')[] }),
    ...(models === undefined ? {} : { allowed_models: split(models) }),
    ...(limit === undefined ? {} : { limit_usd: parseUsd('--limit', limit) }),
    ...(rate === undefined ? {} : { requests_per_minute: parseWhole('--rate', rate, { max: 1_000_000 }) }),
    ...(expires === undefined ? {} : { expires_at: parseExpiry(expires) }),
  }
}

type KeyBudget = { readonly window: 'day' | 'month'; readonly limit_usd: number }

function describeBudgets({ daily, monthly }: CreateOptions): KeyBudget[] {
  return [
    ...(daily === undefined ? [] : [{ window: 'day' as const, limit_usd: parseUsd('--daily', daily) }]),
    ...(monthly === undefined
      ? []
      : [{ window: 'month' as const, limit_usd: parseUsd('--monthly', monthly) }]),
  ]
}

/** Limits what a new key may spend in a day and a month. A key without its limits is revoked before anybody has it. */
async function setBudgets(gateway: GatewayClient, id: string, budgets: readonly KeyBudget[]): Promise<void> {
  try {
    for (const budget of budgets) {
      const body = { ...budget, subject: { type: 'key' as const, id } }
      await gateway.call((routes) => routes.POST('/v1/organization/budgets', { body }))
    }
  } catch (error) {
    await gateway.call((routes) =>
      routes.DELETE('/v1/tenants/me/api-keys/{id}', { params: { path: { id } } }),
    )
    throw error
  }
}

function split(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

function parseExpiry(text: string): string {
  const days = /^(\d{1,4})d$/.exec(text)?.[1]
  if (days === undefined) return parseDate('--expires', text)
  return new Date(Date.now() + Number(days) * 86_400_000).toISOString()
}

export const keys = commandGroup({
  name: 'keys',
  summary: 'List, make, rotate and revoke keys of the account.',
  example: 'parkway keys',
  byDefault: list,
  others: [create, rotate, revoke],
})
