import { readPages } from '../../api/read-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { printTable } from '../../output/tables/print-table.ts'

interface AuditOptions {
  readonly target?: string
  readonly limit: string
}

export const audit = clientCommand<AuditOptions>({
  name: 'audit',
  summary: 'List what operators did, newest first.',
  example: 'parkway admin audit --limit 20',
  define: (command) =>
    command
      .option('--target <id>', 'only what was done to this account, key or code')
      .option('--limit <number>', 'how many', '50'),
  async act({ output, isJson, connect, printJsonLines }, { target, limit }) {
    const gateway = connect()
    const entries = await readPages(parseWhole('--limit', limit), (page) =>
      gateway.call((routes) =>
        routes.GET('/v1/admin/audit', { params: { query: { ...page, target_id: target } } }),
      ),
    )
    if (isJson) return printJsonLines(entries)
    if (entries.length === 0) return output.note('Nothing was done.')
    printTable(
      output,
      [
        { title: 'time', of: (entry) => entry.created_at, isTime: true },
        { title: 'action', of: ({ action }) => action, rank: 1 },
        { title: 'outcome', of: ({ outcome }) => outcome, rank: 3 },
        {
          title: 'target',
          of: ({ target: { kind, id } }) => [kind, id].filter((part) => part !== null).join(' '),
          rank: 2,
          isText: true,
        },
        { title: 'by key', of: ({ actor }) => actor.key_id, rank: 5 },
        { title: 'details', of: ({ details }) => JSON.stringify(details), rank: 4, isText: true },
      ],
      entries,
    )
  },
})
