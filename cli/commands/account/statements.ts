import type { Schemas } from '../../api/gateway-client.ts'
import { readPages } from '../../api/read-pages.ts'
import { clientCommand, type CommandContext } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { askBeforeReplacing } from '../../files/ask-before-replacing.ts'
import { saveResponseBody } from '../../files/save-response-body.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printPairs } from '../../output/tables/print-pairs.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { formatNumber } from '../../output/format-number.ts'

interface StatementsOptions {
  readonly by: string
  readonly ofProject?: string
  readonly csv?: boolean
  readonly focus?: boolean
  readonly output?: string
  readonly force?: boolean
  readonly limit: string
}

const GROUPS = ['model', 'project', 'key', 'day'] as const
type Group = (typeof GROUPS)[number]

export const statements = clientCommand<StatementsOptions>({
  name: 'statements',
  summary: 'List the months of the account, or show one: balances, charges, and the same as CSV or PDF.',
  example: 'parkway statements',
  define: (command) =>
    command
      .argument('[month]', 'a month of UTC, such as 2030-01; without it all are listed')
      .option('--by <name>', `the charges of a month by ${GROUPS.join(', ')}`, 'model')
      .option('--of-project <id>', 'only what this project was charged')
      .option('--csv', 'print every movement and charge of a month as comma-separated values')
      .option('--focus', 'print the charges of a month in the columns of FOCUS 1.2')
      .option('-o, --output <path>', 'save a month as a PDF, or as CSV with --csv or --focus')
      .option('--force', 'replace a file that exists')
      .option('--limit <number>', 'how many months to list', '24'),
  async act(context, options, month) {
    if (month !== undefined) return showMonth(context, options, month)
    if (options.csv === true || options.focus === true || options.output !== undefined)
      throw new CommandFailure(EXIT.usage, 'Name the month of which you want a file, such as 2030-01.')
    await listMonths(context, options)
  },
})

async function listMonths(
  { output, isJson, connect, printJsonLines }: CommandContext,
  { limit, ofProject }: StatementsOptions,
): Promise<void> {
  const gateway = connect()
  const months = await readPages(parseWhole('--limit', limit), (query) =>
    gateway.call((routes) =>
      routes.GET('/v1/statements', { params: { query: { ...query, project_id: ofProject } } }),
    ),
  )
  if (isJson) return printJsonLines(months)
  printTable(
    output,
    [
      { title: 'month', of: ({ month }) => month },
      { title: 'number', of: ({ number, status }) => number ?? (status === 'open' ? 'open' : '-'), rank: 3 },
      {
        title: 'opening',
        of: ({ balance }) => formatBalance(balance?.opening_balance),
        isNumber: true,
        rank: 4,
      },
      { title: 'charged', of: ({ charged }) => formatUsd(charged.usd), isNumber: true, rank: 1 },
      {
        title: 'closing',
        of: ({ balance }) => formatBalance(balance?.closing_balance),
        isNumber: true,
        rank: 2,
      },
    ],
    months,
  )
}

async function showMonth(
  { output, isJson, connect, printJson }: CommandContext,
  { by, csv, focus, force, output: path, ofProject }: StatementsOptions,
  month: string,
): Promise<void> {
  const group = GROUPS.find((known) => known === by)
  if (group === undefined) throw new CommandFailure(EXIT.usage, `--by takes ${GROUPS.join(', ')}.`)
  const gateway = connect()
  if (csv === true || focus === true || path !== undefined) {
    if (path !== undefined) await askBeforeReplacing(path, { isForced: force === true })
    const query = new URLSearchParams({
      format: focus === true ? 'focus' : csv === true ? 'csv' : 'pdf',
      ...(ofProject !== undefined && { project_id: ofProject }),
    })
    const response = await gateway.send(`/v1/statements/${encodeURIComponent(month)}?${query.toString()}`, {
      method: 'GET',
    })
    if (path === undefined) return output.copy(await response.text())
    await saveResponseBody(response, path)
    return output.line(path)
  }
  const statement = await gateway.call((routes) =>
    routes.GET('/v1/statements/{month}', {
      params: { path: { month }, query: { project_id: ofProject } },
    }),
  )
  if (typeof statement === 'string') throw new CommandFailure(EXIT.failed, 'The gateway sent a file.')
  if (isJson) return printJson(statement)
  printPairs(output, describeStatement(statement))
  output.line('')
  printTable(
    output,
    [
      { title: group, of: ({ name }) => name, isText: true },
      { title: 'requests', of: ({ requests }) => formatNumber(requests), isNumber: true, rank: 3 },
      { title: 'charged', of: ({ charged }) => formatUsd(charged.usd), isNumber: true, rank: 2 },
    ],
    [
      ...linesOf(statement, group),
      { name: 'total', requests: sumOfRequests(statement), charged: statement.charged },
    ],
  )
}

type Statement = Schemas['Statement']
type Balance = NonNullable<Statement['balance']>

const linesOf = ({ charges }: Statement, group: Group) => charges[`by_${group}`]

function sumOfRequests({ charges }: Statement): number {
  return charges.by_day.reduce((sum, { requests }) => sum + requests, 0)
}

/** The changes of a balance, in the order of a statement. */
const MOVEMENTS: readonly (readonly [keyof Balance, string])[] = [
  ['opening_balance', 'opening balance'],
  ['top_ups', 'top-ups'],
  ['promotional_credit', 'promotional credit'],
  ['charges', 'charges'],
  ['costs_owed', 'costs above the balance'],
  ['refunds', 'refunds'],
  ['adjustments', 'adjustments'],
  ['expired_credit', 'expired credit'],
  ['closing_balance', 'closing balance'],
]

const ALWAYS_SHOWN: ReadonlySet<keyof Balance> = new Set(['opening_balance', 'charges', 'closing_balance'])

function describeStatement(statement: Statement): (readonly [string, string])[] {
  const { month, number, status, account, project, balance, charged } = statement
  const state = number ?? (status === 'open' ? 'open: amounts may change' : 'closed')
  return [
    ['month', `${month}, of UTC`],
    ['statement', state],
    ['account', account.name],
    ...(project === null ? [] : [['project', project.name] as const]),
    ...(balance === null
      ? [['charged', formatUsd(charged.usd)] as const]
      : MOVEMENTS.filter(([kind]) => balance[kind].usd !== 0 || ALWAYS_SHOWN.has(kind)).map(
          ([kind, name]) => [name, formatUsd(balance[kind].usd)] as const,
        )),
  ]
}

function formatBalance(balance: { readonly usd: number } | undefined): string {
  return balance === undefined ? '-' : formatUsd(balance.usd)
}
