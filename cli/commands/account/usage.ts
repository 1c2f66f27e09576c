import type { GatewayClient } from '../../api/gateway-client.ts'
import { clientCommand, type CommandContext } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { parseDate } from '../../input/parse-date.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printCsv } from '../../output/tables/print-csv.ts'
import { printTable, type Column } from '../../output/tables/print-table.ts'
import { sparkline } from '../../output/bars/sparkline.ts'
import { formatNumber } from '../../output/format-number.ts'

interface UsageOptions {
  readonly by: string
  readonly window: string
  readonly timeZone?: string
  readonly from?: string
  readonly to?: string
  readonly key?: string
  readonly model?: string
  readonly env?: string
  readonly tag?: string
  readonly ofProject?: string
  readonly limit: string
  readonly csv?: boolean
}

const GROUPS = ['model', 'key', 'provider', 'env'] as const
const SPANS = ['day', 'hour'] as const
const WINDOWS = ['24h', '7d', '30d', 'today', 'yesterday', 'this_week', 'this_month', 'last_month'] as const

type Group = (typeof GROUPS)[number] | `tag:${string}`
type Span = (typeof SPANS)[number]

/** What is counted for a group or a span of time. */
interface Figures {
  readonly requests: number
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cost_usd: number
}

export const usage = clientCommand<UsageOptions>({
  name: 'usage',
  summary: 'Show what was used and spent, by model, key, provider, environment, tag, day or hour.',
  example: 'parkway usage --by model --window 7d',
  define: (command) =>
    command
      .option('--by <name>', [...GROUPS, 'tag:<name>', ...SPANS].join(', '), 'model')
      .option(
        '--window <time>',
        `the time up to now, or a part of the calendar: ${WINDOWS.join(', ')}`,
        '30d',
      )
      .option('--time-zone <name>', 'of today, this_week and so on, such as Europe/Zurich; UTC unless told')
      .option('--from <time>', 'the beginning instead, such as 2030-01-31 or 2030-01-31T08:00:00Z')
      .option('--to <time>', 'the end; now unless told')
      .option('--key <id>', 'only requests of this key')
      .option('--model <id>', 'only requests to this model')
      .option('--env <name>', 'only requests of this environment')
      .option('--tag <name=value>', 'only requests with this tag')
      .option('--of-project <id>', 'only requests of this project')
      .option('--limit <number>', 'how many groups', '20')
      .option('--csv', 'print comma-separated values'),
  async act(context, options) {
    const query = describeQuery(options)
    const span = SPANS.find((known) => known === options.by)
    if (span !== undefined) return printSpans(context, { ...query, granularity: span }, options)
    const by = groupOf(options.by)
    if (by === undefined)
      throw new CommandFailure(EXIT.usage, `--by takes ${[...GROUPS, 'tag:<name>', ...SPANS].join(', ')}.`)
    await printGroups(context, { ...query, by }, options)
  },
})

type Query = ReturnType<typeof describeQuery>

function groupOf(text: string): Group | undefined {
  if (text.startsWith('tag:')) return `tag:${text.slice('tag:'.length)}`
  return GROUPS.find((known) => known === text)
}

function describeQuery({ window, timeZone, from, to, key, model, env, tag, ofProject }: UsageOptions) {
  const known = WINDOWS.find((name) => name === window)
  if (known === undefined) throw new CommandFailure(EXIT.usage, `--window takes ${WINDOWS.join(', ')}.`)
  const range =
    from === undefined
      ? { window: known, ...(timeZone !== undefined && { time_zone: timeZone }) }
      : { from: parseDate('--from', from), ...(to === undefined ? {} : { to: parseDate('--to', to) }) }
  // The gateway refuses environments that it does not know, and names them.
  return { ...range, key, model, env: env as 'live' | undefined, tag, project_id: ofProject }
}

async function printSpans(
  { output, isJson, connect, printJson }: CommandContext,
  query: Query & { granularity: Span },
  { csv }: UsageOptions,
): Promise<void> {
  const usage = await connect().call((routes) => routes.GET('/v1/usage/timeseries', { params: { query } }))
  if (isJson) return printJson(usage)
  const columns = [
    {
      title: query.granularity,
      of: (row: (typeof usage.data)[number]) => start(row.start, query.granularity),
    },
    ...FIGURES,
  ]
  if (csv === true)
    return printCsv(output, [{ title: query.granularity, of: (row) => row.start }, ...EXACT], usage.data)
  const highest = Math.max(...usage.data.map((row) => row.cost_usd))
  printTable(
    output,
    [
      ...columns,
      { title: '', of: (row) => '█'.repeat(Math.ceil((row.cost_usd / (highest || 1)) * BAR_WIDTH)), rank: 7 },
    ],
    usage.data,
  )
}

const BAR_WIDTH = 20

async function printGroups(
  { output, isJson, connect, printJson }: CommandContext,
  query: Query & { by: Group },
  { csv, limit }: UsageOptions,
): Promise<void> {
  const gateway = connect()
  const groups = { ...query, limit: parseWhole('--limit', limit, { max: 100 }) }
  const spending = await gateway.call((routes) =>
    routes.GET('/v1/usage/spending', { params: { query: groups } }),
  )
  if (isJson) return printJson(spending)
  const { data, other, by } = spending
  if (csv === true)
    return printCsv(
      output,
      [{ title: by, of: (row) => row.value }, { title: 'name', of: ({ name }) => name }, ...EXACT],
      data,
    )
  if (data.length === 0) return output.note('Nothing was used in this time.')
  const trends = await readTrends(gateway, query)
  const rows = data.map((row) => ({ ...row, trend: trends.get(row.value) ?? '' }))
  const rest = other.groups === 0 ? [] : [{ ...other, name: `${other.groups} others`, trend: '' }]
  const total = { ...spending, name: 'total', share: 1, trend: '' }
  printTable(
    output,
    [
      { title: by, of: ({ name }) => name || 'none', isText: true },
      ...FIGURES,
      { title: 'share', of: ({ share }) => `${formatNumber(share * 100, 1)} %`, isNumber: true, rank: 4 },
      { title: 'spend over time', of: ({ trend }) => trend, rank: 7 },
    ],
    [...rows, ...rest, total],
  )
}

/** The series of the most expensive groups as bars. */
async function readTrends(
  gateway: GatewayClient,
  query: Query & { by: Group },
): Promise<ReadonlyMap<string, string>> {
  const { series } = await gateway.call((routes) => routes.GET('/v1/usage/timeseries', { params: { query } }))
  return new Map(series.map(({ value, data }) => [value, sparkline(data.map((point) => point.cost_usd))]))
}

function start(timestamp: string, span: Span): string {
  return span === 'day' ? timestamp.slice(0, 10) : timestamp.slice(0, 16).replace('T', ' ')
}

const FIGURES: readonly Column<Figures>[] = [
  { title: 'requests', of: (row) => formatNumber(row.requests), isNumber: true, rank: 3 },
  { title: 'tokens in', of: (row) => formatNumber(row.prompt_tokens), isNumber: true, rank: 5 },
  {
    title: 'tokens out',
    of: (row) => formatNumber(row.completion_tokens),
    isNumber: true,
    rank: 6,
  },
  { title: 'cost', of: (row) => formatUsd(row.cost_usd), isNumber: true, rank: 2 },
]

/** The same for other programs: numbers without signs and separators. */
const EXACT: readonly Column<Figures>[] = [
  { title: 'requests', of: (row) => String(row.requests) },
  { title: 'prompt_tokens', of: (row) => String(row.prompt_tokens) },
  { title: 'completion_tokens', of: (row) => String(row.completion_tokens) },
  { title: 'cost_usd', of: (row) => row.cost_usd.toFixed(9) },
]
