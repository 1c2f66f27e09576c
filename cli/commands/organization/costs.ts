import type { GatewayClient } from '../../api/gateway-client.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { parseDate } from '../../input/parse-date.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printCsv } from '../../output/tables/print-csv.ts'
import { printTable } from '../../output/tables/print-table.ts'

interface CostsOptions {
  readonly by: string
  readonly from?: string
  readonly to?: string
  readonly tag?: string
  readonly ofProject?: string
  readonly csv?: boolean
}

/** What the words of `--by` are called in the API. */
const GROUPS: ReadonlyMap<string, string> = new Map([
  ['project', 'project_id'],
  ['user', 'user_id'],
  ['key', 'api_key_id'],
  ['model', 'model'],
  ['item', 'line_item'],
])

const DAYS_USUAL = 30
const DAY_MS = 86_400_000
const DAYS_OF_PAGE = 180
/** Ten years. */
const PAGES_MAX = 21

export const costs = clientCommand<CostsOptions>({
  name: 'costs',
  summary: 'Show what was charged by project, person, key, model, item or tag, to the nano-dollar.',
  example: 'parkway costs --by project,tag:team',
  define: (command) =>
    command
      .option(
        '--by <names>',
        `${[...GROUPS.keys()].join(', ')} or tag:<name>, several with commas`,
        'project',
      )
      .option('--from <day>', 'the first day, of UTC, such as 2030-01-31; 30 days ago unless told')
      .option('--to <day>', 'the day after the last one; until now unless told')
      .option('--tag <name=value>', 'only what has this tag')
      .option('--of-project <id>', 'only what this project was charged')
      .option('--csv', 'print comma-separated values'),
  async act({ output, isJson, connect, printJson }, { by, csv, ...options }) {
    const words = by.split(',').map((word) => word.trim())
    const data = await readDays(connect(), { group_by: words.map(groupOf), ...queryOf(options) })
    if (isJson) return printJson({ object: 'page', data, has_more: false, next_page: null })
    const rows = sumUp(data, words)
    const columns = words.map((word, position) => ({
      title: word,
      of: ({ names }: Row) => names[position] ?? '',
      isText: true,
    }))
    if (csv === true)
      return printCsv(
        output,
        [...columns, { title: 'cost_usd', of: ({ nanoUsd }: Row) => exactUsd(nanoUsd) }],
        rows,
      )
    if (rows.length === 0) return output.note('Nothing was charged in this time.')
    const total = { names: ['total'], nanoUsd: rows.reduce((sum, { nanoUsd }) => sum + nanoUsd, 0n) }
    printTable(
      output,
      [
        ...columns,
        {
          title: 'cost',
          of: ({ nanoUsd }: Row) => formatUsd(Number(nanoUsd) / 1e9),
          isNumber: true,
          rank: 1,
        },
      ],
      [...rows, total],
    )
  },
})

type CostsQuery = ReturnType<typeof queryOf> & { readonly group_by: string[] }
type Day = Awaited<ReturnType<typeof readDays>>[number]

interface Row {
  readonly names: readonly string[]
  readonly nanoUsd: bigint
}

function groupOf(word: string): string {
  const name = GROUPS.get(word)
  if (name !== undefined) return name
  if (/^tag:.+$/.test(word)) return word
  throw new CommandFailure(EXIT.usage, `--by takes ${[...GROUPS.keys()].join(', ')} or tag:<name>.`)
}

function queryOf({ from, to, tag, ofProject }: Omit<CostsOptions, 'by' | 'csv'>) {
  const startMs =
    from === undefined ? Date.now() - DAYS_USUAL * DAY_MS : Date.parse(parseDate('--from', from))
  return {
    start_time: Math.floor(startMs / 1000),
    ...(to !== undefined && { end_time: Math.floor(Date.parse(parseDate('--to', to)) / 1000) }),
    ...(tag !== undefined && { tags: [tag] }),
    ...(ofProject !== undefined && { project_ids: [ofProject] }),
    limit: DAYS_OF_PAGE,
  }
}

async function readDays(gateway: GatewayClient, query: CostsQuery) {
  const read = (page?: string) =>
    gateway.call((routes) =>
      routes.GET('/v1/organization/costs', {
        params: { query: { ...query, ...(page !== undefined && { page }) } },
      }),
    )
  const first = await read()
  const days = [...first.data]
  let next = first.next_page
  for (let pages = 1; next !== null && pages < PAGES_MAX; pages += 1) {
    const page = await read(next)
    days.push(...page.data)
    next = page.next_page
  }
  return days
}

/** The sums of all days, the dearest first. */
function sumUp(days: readonly Day[], words: readonly string[]): Row[] {
  const sums = new Map<string, Row>()
  for (const result of days.flatMap(({ results }) => results)) {
    const names = words.map((word) => nameOf(result, word))
    const key = JSON.stringify(names)
    const nanoUsd = (sums.get(key)?.nanoUsd ?? 0n) + BigInt(result.amount.nano_usd)
    sums.set(key, { names, nanoUsd })
  }
  return [...sums.values()].toSorted((a, b) => (a.nanoUsd < b.nanoUsd ? 1 : a.nanoUsd > b.nanoUsd ? -1 : 0))
}

function nameOf(result: Day['results'][number], word: string): string {
  const value = word.startsWith('tag:')
    ? result.tags?.[word.slice('tag:'.length)]
    : Reflect.get(result, groupOf(word))
  return typeof value === 'string' ? value : 'none'
}

function exactUsd(nanoUsd: bigint): string {
  const digits = nanoUsd.toString().padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`
}
