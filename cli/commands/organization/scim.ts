import { readOrganizationPages } from '../../api/read-organization-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { timestampOf } from '../../output/format-time.ts'
import { printable } from '../../output/printable.ts'
import { printTable } from '../../output/tables/print-table.ts'

const DAY_SECONDS = 86_400
const at = (id: string) => ({ params: { path: { token_id: id } } })
const timeOf = (seconds: number | null): string => (seconds === null ? 'never' : timestampOf(seconds))

const show = clientCommand({
  name: 'show',
  summary: 'Show what a directory manages by SCIM, and which of its writes were refused.',
  example: 'parkway scim',
  async act({ output, isJson, connect, printJson }) {
    const state = await connect().call((routes) => routes.GET('/v1/organization/scim', {}))
    if (isJson) return printJson(state)
    const lines: Readonly<Record<string, string>> = {
      'base URL': state.base_url,
      people: `${state.users}, ${state.suspended_users} of them deactivated`,
      groups: String(state.groups),
      'last sync': state.last_sync_at === null ? 'never' : new Date(state.last_sync_at * 1000).toISOString(),
      'has an owner': state.has_owner ? 'yes' : 'no: give somebody the role owner',
    }
    for (const [name, value] of Object.entries(lines)) output.line(printable(`${name.padEnd(12)}  ${value}`))
    if (state.failures.length === 0) return
    output.note('Refused writes, the newest first:')
    printTable(
      output,
      [
        { title: 'when', of: (failure) => new Date(failure.created_at * 1000).toISOString(), rank: 2 },
        { title: 'status', of: ({ status }) => String(status), isNumber: true, rank: 1 },
        { title: 'request', of: ({ method, path }) => `${method} ${path}`, rank: 3, isText: true },
        { title: 'reason', of: ({ detail }) => detail, rank: 1, isText: true },
      ],
      state.failures,
    )
  },
})

const tokens = clientCommand<{ readonly limit: string }>({
  name: 'tokens',
  summary: 'List the tokens that directories have.',
  example: 'parkway scim tokens',
  define: (command) => command.option('--limit <number>', 'how many', '100'),
  async act({ output, isJson, connect, printJsonLines }, { limit }) {
    const gateway = connect()
    const listed = await readOrganizationPages(parseWhole('--limit', limit), (query) =>
      gateway.call((routes) => routes.GET('/v1/organization/scim_tokens', { params: { query } })),
    )
    if (isJson) return printJsonLines(listed)
    if (listed.length === 0) return output.note('No token yet. Make one with "parkway scim create".')
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, isId: true, rank: 2 },
        { title: 'name', of: ({ name }) => name, rank: 1, isText: true },
        { title: 'expires', of: (token) => timeOf(token.expires_at), isTime: true, rank: 4 },
        { title: 'last use', of: (token) => timeOf(token.last_used_at), isTime: true, rank: 3 },
      ],
      listed,
    )
  },
})

const create = clientCommand<{ readonly days?: string }>({
  name: 'create',
  summary: 'Make a token for a directory and print it. It is shown this once.',
  example: 'parkway scim create Entra --days 365',
  define: (command) =>
    command
      .argument('<name>', 'usually the directory; the audit log names it')
      .option('--days <number>', 'after how many days it stops working; otherwise never'),
  async act({ output, isJson, connect, printJson }, { days }, name = '') {
    const expires_in_seconds = days === undefined ? null : parseWhole('--days', days) * DAY_SECONDS
    const gateway = connect()
    const token = await gateway.call((routes) =>
      routes.POST('/v1/organization/scim_tokens', { body: { name, expires_in_seconds } }),
    )
    if (isJson) return printJson(token)
    const { base_url: baseUrl } = await gateway.call((routes) => routes.GET('/v1/organization/scim', {}))
    output.note(printable(`Enter it in the directory with the base URL ${baseUrl}. It is shown this once.`))
    output.line(printable(token.value))
  },
})

const rm = clientCommand<{ readonly yes?: boolean }>({
  name: 'rm',
  summary: 'End a token at once. People and groups stay as they are.',
  example: 'parkway scim rm --yes 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command.argument('<id>', 'the id of the token: scim_token_…').option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes }, id = '') {
    const gateway = connect()
    const { name } = await gateway.call((routes) =>
      routes.GET('/v1/organization/scim_tokens/{token_id}', at(id)),
    )
    await requireConsent(
      printable(`End the token ${name}? A directory that uses it can change nothing any more.`),
      yes === true,
    )
    const deleted = await gateway.call((routes) =>
      routes.DELETE('/v1/organization/scim_tokens/{token_id}', at(id)),
    )
    if (isJson) return printJson(deleted)
    output.line(printable(`Ended the token ${name}.`))
  },
})

export const scim = commandGroup({
  name: 'scim',
  summary: 'Connect a directory that writes people and groups by SCIM.',
  example: 'parkway scim',
  byDefault: show,
  others: [tokens, create, rm],
})
