import { Option } from 'commander'
import type { GatewayClient } from '../../api/gateway-client.ts'
import { readPages } from '../../api/read-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { commandGroup } from '../../command-group.ts'
import { EXIT } from '../../exit-codes.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseUsd, parseWhole } from '../../input/parse-number.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printPairs } from '../../output/tables/print-pairs.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { printable } from '../../output/printable.ts'

interface ListOptions {
  readonly search?: string
  readonly status?: 'active' | 'suspended'
  readonly sort?: (typeof SORTS)[number]
  readonly order?: 'asc' | 'desc'
  readonly min?: string
  readonly max?: string
  readonly csv?: boolean
  readonly limit: string
}

const SORTS = ['created', 'name', 'balance', 'spend', 'growth', 'errors'] as const

const list = clientCommand<ListOptions>({
  name: 'list',
  summary: 'List accounts with their balances.',
  example: 'parkway admin accounts list --sort growth --limit 10',
  define: (command) =>
    command
      .option('--search <text>', 'only accounts with this in their name, or with this id')
      .option('--status <name>', 'active or suspended')
      .addOption(
        new Option('--sort <what>', 'by what; growth is against the 30 days before').choices([...SORTS]),
      )
      .addOption(
        new Option('--order <direction>', 'upwards, or the largest first, as without it').choices([
          'asc',
          'desc',
        ]),
      )
      .option('--min <figure>', 'only accounts whose figure is at least this: that of --sort')
      .option('--max <figure>', 'only accounts whose figure is at most this')
      .option('--csv', 'print all that match as comma-separated values')
      .option('--limit <number>', 'how many', '100'),
  async act({ output, isJson, connect, printJsonLines }, options) {
    const { limit, csv, search, status, sort, order } = options
    const gateway = connect()
    const query = { search, status, sort, order, ...readBounds(options) }
    if (csv === true) {
      const given = Object.entries({ ...query, format: 'csv' }).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, String(value)]],
      )
      const path = `/v1/admin/accounts?${new URLSearchParams(given).toString()}`
      return output.copy(await (await gateway.send(path, { method: 'GET' })).text())
    }
    const accounts = await readPages(parseWhole('--limit', limit), async (page) => {
      const list = await gateway.call((routes) =>
        routes.GET('/v1/admin/accounts', { params: { query: { ...query, ...page } } }),
      )
      if (typeof list === 'string') throw new CommandFailure(EXIT.failed, 'The gateway sent a file.')
      return list
    })
    if (isJson) return printJsonLines(accounts)
    if (accounts.length === 0) return output.note('No account matches.')
    printTable(
      output,
      [
        { title: 'account', of: ({ id }) => id, isId: true },
        { title: 'status', of: (account) => account.status, rank: 3 },
        { title: 'balance', of: (account) => formatUsd(account.balance_usd), isNumber: true, rank: 2 },
        { title: 'spent 30d', of: (account) => formatUsd(account.spent_30d_usd), isNumber: true, rank: 2 },
        {
          title: 'before',
          of: (account) => formatUsd(account.spent_before_usd),
          isNumber: true,
          rank: 4,
        },
        { title: 'failed', of: (account) => String(account.failed_requests_30d), isNumber: true, rank: 4 },
        { title: 'made', of: (account) => account.created_at, isTime: true, rank: 4 },
        { title: 'name', of: ({ name }) => name, rank: 1, isText: true },
      ],
      accounts,
    )
  },
})

function readBounds({ min, max }: ListOptions): { min?: number; max?: number } {
  return {
    ...(min !== undefined && { min: parseFigure('--min', min) }),
    ...(max !== undefined && { max: parseFigure('--max', max) }),
  }
}

function parseFigure(option: string, text: string): number {
  const figure = Number(text)
  if (text.trim() === '' || !Number.isFinite(figure))
    throw new CommandFailure(EXIT.usage, `${option} takes a number, not '${text}'.`)
  return figure
}

const show = clientCommand({
  name: 'show',
  summary: 'Show an account: its balance, budgets and keys.',
  example: 'parkway admin accounts show "$ACCOUNT_ID"',
  define: (command) => command.argument('<account>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const gateway = connect()
    const params = { path: { id } }
    const account = await readAccount(gateway, id)
    if (isJson) return printJson(account)
    const budget = await gateway.call((routes) => routes.GET('/v1/admin/accounts/{id}/budget', { params }))
    const keys = await gateway.call((routes) => routes.GET('/v1/admin/accounts/{id}/api-keys', { params }))
    printPairs(output, [
      ['account', `${account.name} (${account.id})`],
      ['status', account.status],
      ...(account.suspended_reason === null
        ? []
        : ([['suspended because', printable(account.suspended_reason)]] as const)),
      ['balance', formatUsd(account.balance_usd)],
      ['budget a month', describeBudget(budget.monthly_usd, budget.monthly_spent_usd)],
      ['budget a day', describeBudget(budget.daily_usd, budget.daily_spent_usd)],
      ['keys', `${keys.data.filter((key) => key.is_active).length} active of ${keys.total}`],
      ['made', account.created_at],
    ])
  },
})

interface CreateOptions {
  readonly credit?: string
}

const create = clientCommand<CreateOptions>({
  name: 'create',
  summary: 'Make an account, without a key.',
  example: 'parkway admin accounts create "Acme" --credit 10',
  define: (command) =>
    command.argument('<name>', 'its name').option('--credit <dollars>', 'credit to begin with'),
  async act({ output, isJson, connect, printJson }, { credit }, name = '') {
    const body = { name, ...(credit === undefined ? {} : { credit_usd: parseUsd('--credit', credit) }) }
    const account = await connect().call((routes) => routes.POST('/v1/admin/accounts', { body }))
    if (isJson) return printJson(account)
    output.line(printable(account.id))
  },
})

const suspend = clientCommand<{ readonly yes?: boolean; readonly reason?: string }>({
  name: 'suspend',
  summary: 'Refuse all requests of an account until it is activated again.',
  example: 'parkway admin accounts suspend --reason "Invoice 17 is not paid." --yes "$ACCOUNT_ID"',
  define: (command) =>
    command
      .argument('<account>', 'its id')
      .option('--reason <text>', 'why; every refusal tells the account')
      .option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes, reason }, id = '') {
    const gateway = connect()
    const { name } = await readAccount(gateway, id)
    await requireConsent(`Suspend ${printable(name)} (${id})?`, yes === true)
    const account = await gateway.call((routes) =>
      routes.POST('/v1/admin/accounts/{id}/suspend', {
        params: { path: { id } },
        body: reason === undefined ? {} : { reason },
      }),
    )
    if (isJson) return printJson(account)
    output.line(`${printable(name)} is ${account.status}.`)
  },
})

const activate = clientCommand({
  name: 'activate',
  summary: 'Allow requests of a suspended account again.',
  example: 'parkway admin accounts activate "$ACCOUNT_ID"',
  define: (command) => command.argument('<account>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const account = await connect().call((routes) =>
      routes.POST('/v1/admin/accounts/{id}/activate', { params: { path: { id } } }),
    )
    if (isJson) return printJson(account)
    output.line(`${printable(account.name)} is ${account.status}.`)
  },
})

function readAccount(gateway: GatewayClient, id: string) {
  return gateway.call((routes) => routes.GET('/v1/admin/accounts/{id}', { params: { path: { id } } }))
}

function describeBudget(limit: number | null, spent: number | null): string {
  return limit === null ? 'none' : `${formatUsd(spent ?? 0)} of ${formatUsd(limit)}`
}

export const accounts = commandGroup({
  name: 'accounts',
  summary: 'List, show, make, suspend and activate accounts.',
  example: 'parkway admin accounts',
  byDefault: list,
  others: [show, create, suspend, activate],
})
