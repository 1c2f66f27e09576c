import { readPages } from '../../api/read-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { parseSince } from '../../input/parse-date.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { printTable } from '../../output/tables/print-table.ts'

interface AuditOptions {
  readonly target?: string
  readonly account?: string
  readonly actor?: string
  readonly action?: string
  readonly outcome?: string
  readonly search?: string
  readonly since?: string
  readonly until?: string
  readonly csv?: boolean
  readonly limit: string
}

const OUTCOMES = ['done', 'failed', 'unknown'] as const

export const audit = clientCommand<AuditOptions>({
  name: 'audit',
  summary: 'List what operators did, newest first.',
  example: 'parkway admin audit --action account --since 7d',
  define: (command) =>
    command
      .option('--target <id>', 'only what was done to this account, key or code')
      .option('--account <id>', 'only what is about this account, its keys and its payments')
      .option('--actor <who>', 'only what this person, key or account did: an e-mail address or an id')
      .option('--action <name>', 'only this action, such as account.suspend, or all of one noun: account')
      .option('--outcome <name>', 'done, failed or unknown')
      .option('--search <text>', 'only entries with this in their action, names or details')
      .option('--since <time>', 'only later entries: a date, or 30m, 6h, 7d')
      .option('--until <time>', 'only earlier entries')
      .option('--csv', 'print all that match as comma-separated values')
      .option('--limit <number>', 'how many', '50'),
  async act({ output, isJson, connect, printJsonLines }, options) {
    const gateway = connect()
    const query = readFilters(options)
    if (options.csv === true) {
      const given = new Map<string, string>([['format', 'csv']])
      for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, value)
      const path = `/v1/admin/audit?${new URLSearchParams(given).toString()}`
      return output.copy(await (await gateway.send(path, { method: 'GET' })).text())
    }
    const entries = await readPages(parseWhole('--limit', options.limit), async (page) => {
      const list = await gateway.call((routes) =>
        routes.GET('/v1/admin/audit', { params: { query: { ...query, ...page } } }),
      )
      if (typeof list === 'string') throw new CommandFailure(EXIT.failed, 'The gateway sent a file.')
      return list
    })
    if (isJson) return printJsonLines(entries)
    if (entries.length === 0) return output.note('Nothing was done.')
    printTable(
      output,
      [
        { title: 'time', of: (entry) => entry.created_at, isTime: true },
        { title: 'action', of: ({ action }) => action, rank: 1 },
        { title: 'outcome', of: ({ outcome }) => outcome, rank: 4 },
        {
          title: 'target',
          of: ({ target: { kind, id, name } }) =>
            [kind, name ?? id].filter((part) => part !== null).join(' '),
          rank: 2,
          isText: true,
        },
        { title: 'account', of: (entry) => entry.account_name ?? '-', rank: 6, isText: true },
        { title: 'by', of: ({ actor }) => actor.name ?? actor.key_id, rank: 3, isText: true },
        { title: 'details', of: describeEntry, rank: 5, isText: true },
      ],
      entries,
    )
  },
})

function readFilters({ target, account, actor, action, outcome, search, since, until }: AuditOptions) {
  const known = OUTCOMES.find((name) => name === outcome)
  if (outcome !== undefined && known === undefined)
    throw new CommandFailure(EXIT.usage, `--outcome takes ${OUTCOMES.join(', ')}.`)
  return {
    target_id: target,
    account_id: account,
    actor,
    action,
    outcome: known,
    search,
    since: since === undefined ? undefined : parseSince('--since', since),
    until: until === undefined ? undefined : parseSince('--until', until),
  }
}

interface Described {
  readonly details: Readonly<Record<string, unknown>>
  readonly changes: readonly {
    readonly member: string
    readonly from?: unknown
    readonly to?: unknown
  }[]
}

/** What is different, where that is known; otherwise what was asked for. */
function describeEntry({ details, changes }: Described): string {
  if (changes.length === 0) return JSON.stringify(details)
  return changes
    .map(({ member, from, to }) => `${member}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`)
    .join(', ')
}
