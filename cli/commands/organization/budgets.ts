import { readOrganizationPages } from '../../api/read-organization-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseDate } from '../../input/parse-date.ts'
import { parseUsd, parseWhole } from '../../input/parse-number.ts'
import { parseWord } from '../../input/parse-word.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printable } from '../../output/printable.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { approve, refuse, requests } from './budget-requests.ts'

const SUBJECTS = ['account', 'project', 'group', 'user', 'service_account', 'key', 'tag'] as const
const WINDOWS = ['day', 'week', 'month', 'total'] as const
const DAY_LENGTH = 'YYYY-MM-DD'.length

const at = (id: string) => ({ params: { path: { budget_id: id } } })

const list = clientCommand<{ readonly limit: string }>({
  name: 'list',
  summary: 'List the budgets that the key may see, with what is spent and left.',
  example: 'parkway budgets',
  define: (command) => command.option('--limit <number>', 'how many', '100'),
  async act({ output, isJson, connect, printJsonLines }, { limit }) {
    const gateway = connect()
    const budgets = await readOrganizationPages(parseWhole('--limit', limit), (query) =>
      gateway.call((routes) => routes.GET('/v1/organization/budgets', { params: { query } })),
    )
    if (isJson) return printJsonLines(budgets)
    if (budgets.length === 0) return output.note('No budget. Make one with "parkway budgets create".')
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, isId: true, rank: 7 },
        { title: 'of', of: ({ subject }) => subject.id ?? subject.type, rank: 1, isText: true },
        { title: 'window', of: (budget) => budget.window, rank: 2 },
        { title: 'spent', of: (budget) => formatUsd(budget.spent_usd), isNumber: true, rank: 4 },
        { title: 'left', of: (budget) => formatUsd(budget.remaining_usd), isNumber: true, rank: 1 },
        { title: 'limit', of: (budget) => formatUsd(budget.limit_usd), isNumber: true, rank: 3 },
        { title: 'again', of: (budget) => budget.resets_at?.slice(0, DAY_LENGTH) ?? '-', rank: 6 },
        { title: 'refuses', of: (budget) => (budget.is_hard ? 'yes' : 'only warns'), rank: 5 },
      ],
      budgets,
    )
  },
})

interface CreateOptions {
  readonly window: string
  readonly models?: string
  readonly soft?: boolean
}

const create = clientCommand<CreateOptions>({
  name: 'create',
  summary: 'Limit what an account, project, group, person, service account, key or tag may spend.',
  example: 'parkway budgets create account 500 --window month',
  define: (command) =>
    command
      .argument(
        '<subject>',
        'account, or project=<id>, group=, user=, service_account=, key=, tag=<name=value>',
      )
      .argument('<dollars>', 'what may be spent in one window')
      .option('--window <name>', 'day, week, month or total', 'month')
      .option('--models <list>', 'count only these models, separated by commas')
      .option('--soft', 'only warn, and refuse nothing'),
  async act({ output, isJson, connect, printJson }, { window, models, soft }, subject = '', dollars = '') {
    const body = {
      subject: parseSubject(subject),
      window: parseWord('--window', window, WINDOWS),
      limit_usd: parseUsd('<dollars>', dollars),
      is_hard: soft !== true,
      models: models === undefined ? null : models.split(',').map((model) => model.trim()),
    }
    const budget = await connect().call((routes) => routes.POST('/v1/organization/budgets', { body }))
    if (isJson) return printJson(budget)
    output.note(
      printable(
        `${formatUsd(budget.limit_usd)} for ${budget.window}, ${formatUsd(budget.remaining_usd)} left.`,
      ),
    )
    output.line(printable(budget.id))
  },
})

const set = clientCommand({
  name: 'set',
  summary: 'Change the limit of a budget.',
  example: 'parkway budgets set 01a1e900-0fc9-7eff-b14c-dd4471e0969d 750',
  define: (command) =>
    command.argument('<id>', 'the id of the budget: budget_…').argument('<dollars>', 'the new limit'),
  async act({ output, isJson, connect, printJson }, _, id = '', dollars = '') {
    const body = { limit_usd: parseUsd('<dollars>', dollars) }
    const budget = await connect().call((routes) =>
      routes.POST('/v1/organization/budgets/{budget_id}', { ...at(id), body }),
    )
    if (isJson) return printJson(budget)
    output.line(`The limit is ${formatUsd(budget.limit_usd)}, ${formatUsd(budget.remaining_usd)} is left.`)
  },
})

const raise = clientCommand<{ readonly until: string }>({
  name: 'raise',
  summary: 'Raise a budget for a limited time.',
  example: 'parkway budgets raise 01a1e900-0fc9-7eff-b14c-dd4471e0969d 50 --until 7d',
  define: (command) =>
    command
      .argument('<id>', 'the id of the budget')
      .argument('<dollars>', 'how much more may be spent')
      .option('--until <time>', 'a number of days such as 7d, or a date', '7d'),
  async act({ output, isJson, connect, printJson }, { until }, id = '', dollars = '') {
    const body = { amount_usd: parseUsd('<dollars>', dollars), until: parseUntil(until) }
    const budget = await connect().call((routes) =>
      routes.POST('/v1/organization/budgets/{budget_id}/raise', { ...at(id), body }),
    )
    if (isJson) return printJson(budget)
    output.line(`${formatUsd(budget.remaining_usd)} is left, with the raise until ${body.until}.`)
  },
})

const rm = clientCommand<{ readonly yes?: boolean }>({
  name: 'rm',
  summary: 'Delete a budget. It limits nothing any more.',
  example: 'parkway budgets rm --yes 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<id>', 'the id of the budget').option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes }, id = '') {
    await requireConsent(printable(`Delete the budget ${id}?`), yes === true)
    const deleted = await connect().call((routes) =>
      routes.DELETE('/v1/organization/budgets/{budget_id}', at(id)),
    )
    if (isJson) return printJson(deleted)
    output.line(printable(`Deleted ${deleted.id}.`))
  },
})

const request = clientCommand<{ readonly until: string; readonly reason: string }>({
  name: 'request',
  summary: 'Ask for more than a budget allows. Whoever manages it decides.',
  example:
    'parkway budgets request 01a1e900-0fc9-7eff-b14c-dd4471e0969d 20 --reason "The launch is on Friday."',
  define: (command) =>
    command
      .argument('<id>', 'the id of a budget that limits you')
      .argument('<dollars>', 'how much you need above the limit')
      .requiredOption('--reason <text>', 'why')
      .option('--until <time>', 'a number of days such as 7d, or a date', '7d'),
  async act({ output, isJson, connect, printJson }, { until, reason }, id = '', dollars = '') {
    const body = {
      budget_id: id,
      amount_usd: parseUsd('<dollars>', dollars),
      until: parseUntil(until),
      reason,
    }
    const asked = await connect().call((routes) => routes.POST('/v1/organization/budget_requests', { body }))
    if (isJson) return printJson(asked)
    output.line(printable(`Asked: ${asked.id} waits for a decision.`))
  },
})

function parseSubject(text: string): { type: (typeof SUBJECTS)[number]; id: string | null } {
  const [type = '', ...rest] = text.split('=')
  const id = rest.join('=')
  return { type: parseWord('<subject>', type, SUBJECTS), id: id === '' ? null : id }
}

function parseUntil(text: string): string {
  const days = /^(\d{1,3})d$/.exec(text)?.[1]
  if (days === undefined) return parseDate('--until', text)
  return new Date(Date.now() + Number(days) * 86_400_000).toISOString()
}

export const budgets = commandGroup({
  name: 'budgets',
  summary: 'Limit what projects, people, keys and others may spend.',
  example: 'parkway budgets',
  byDefault: list,
  others: [create, set, raise, rm, request, requests, approve, refuse],
})
