import { readOrganizationPages } from '../../api/read-organization-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { parseUsd, parseWhole } from '../../input/parse-number.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printable } from '../../output/printable.ts'
import { printTable } from '../../output/tables/print-table.ts'

const STATUSES = ['pending', 'approved', 'refused'] as const
const DAY_LENGTH = 'YYYY-MM-DD'.length

const at = (id: string) => ({ params: { path: { request_id: id } } })

/** Who asked for more than a budget allows. */
export const requests = clientCommand<{ readonly status: string; readonly limit: string }>({
  name: 'requests',
  summary: 'List requests for more than a budget allows, with their reasons.',
  example: 'parkway budgets requests',
  define: (command) =>
    command
      .option('--status <name>', `${STATUSES.join(', ')} or all`, 'pending')
      .option('--limit <number>', 'how many', '100'),
  async act({ output, isJson, connect, printJsonLines }, { status, limit }) {
    const known = STATUSES.find((one) => one === status)
    if (known === undefined && status !== 'all')
      throw new CommandFailure(EXIT.usage, `--status takes ${STATUSES.join(', ')} or all.`)
    const gateway = connect()
    const asked = await readOrganizationPages(parseWhole('--limit', limit), (page) => {
      const query = { ...page, ...(known !== undefined && { status: known }) }
      return gateway.call((routes) => routes.GET('/v1/organization/budget_requests', { params: { query } }))
    })
    if (isJson) return printJsonLines(asked)
    if (asked.length === 0) return output.note('Nobody asks for more.')
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, isId: true, rank: 2 },
        { title: 'who', of: (one) => one.requested_by_name ?? one.requested_by, rank: 1, isText: true },
        {
          title: 'budget of',
          of: ({ budget }) => budget.subject.id ?? budget.subject.type,
          rank: 4,
          isText: true,
        },
        { title: 'more', of: (one) => formatUsd(one.amount_usd), isNumber: true, rank: 3 },
        { title: 'until', of: ({ until }) => until.slice(0, DAY_LENGTH), rank: 6 },
        { title: 'status', of: (one) => one.status, rank: 5 },
        { title: 'reason', of: ({ reason }) => reason, rank: 7, isText: true },
      ],
      asked,
    )
  },
})

export const approve = clientCommand<{ readonly amount?: string }>({
  name: 'approve',
  summary: 'Approve a request for more, with the amount asked for or another one.',
  example: 'parkway budgets approve 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command
      .argument('<id>', 'the id of the request: budget_req_…')
      .option('--amount <dollars>', 'another amount than was asked for'),
  async act({ output, isJson, connect, printJson }, { amount }, id = '') {
    const body = amount === undefined ? {} : { amount_usd: parseUsd('--amount', amount) }
    const decided = await connect().call((routes) =>
      routes.POST('/v1/organization/budget_requests/{request_id}/approve', { ...at(id), body }),
    )
    if (isJson) return printJson(decided)
    output.line(printable(`Approved: ${decided.budget_id} is raised until ${decided.until}.`))
  },
})

export const refuse = clientCommand({
  name: 'refuse',
  summary: 'Refuse a request for more.',
  example: 'parkway budgets refuse 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<id>', 'the id of the request'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const decided = await connect().call((routes) =>
      routes.POST('/v1/organization/budget_requests/{request_id}/refuse', at(id)),
    )
    if (isJson) return printJson(decided)
    output.line(printable(`Refused ${decided.id}.`))
  },
})
