import { readOrganizationPages } from '../../api/read-organization-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { commandGroup } from '../../command-group.ts'
import { EXIT } from '../../exit-codes.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { timestampOf } from '../../output/format-time.ts'
import { printable } from '../../output/printable.ts'
import { printPairs } from '../../output/tables/print-pairs.ts'
import { printTable } from '../../output/tables/print-table.ts'

const ROLES = ['owner', 'billing', 'auditor', 'reader'] as const
type Role = (typeof ROLES)[number]

const at = (id: string) => ({ params: { path: { user_id: id } } })

const list = clientCommand<{ readonly limit: string }>({
  name: 'list',
  summary: 'List the people of the account, the latest first.',
  example: 'parkway members',
  define: (command) => command.option('--limit <number>', 'how many', '100'),
  async act({ output, isJson, connect, printJsonLines }, { limit }) {
    const gateway = connect()
    const members = await readOrganizationPages(parseWhole('--limit', limit), (query) =>
      gateway.call((routes) => routes.GET('/v1/organization/users', { params: { query } })),
    )
    if (isJson) return printJsonLines(members)
    if (members.length === 0) return output.note('Nobody yet. Invite people with "parkway invite create".')
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, isId: true, rank: 3 },
        { title: 'email', of: ({ email }) => email, rank: 1, isText: true },
        { title: 'role', of: ({ role }) => role, rank: 1 },
        { title: 'state', of: ({ user }) => (user.enabled ? 'active' : 'deactivated'), rank: 4 },
        {
          title: 'last used',
          of: (member) => timestampOf(member.api_key_last_used_at),
          isTime: true,
          rank: 5,
        },
        { title: 'name', of: ({ name }) => name ?? '-', rank: 2, isText: true },
      ],
      members,
    )
  },
})

const show = clientCommand({
  name: 'show',
  summary: 'Show a person with their projects.',
  example: 'parkway members show 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<id>', 'the id of the person: user-…'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const member = await connect().call((routes) => routes.GET('/v1/organization/users/{user_id}', at(id)))
    if (isJson) return printJson(member)
    printPairs(output, [
      ['id', member.id],
      ['email', member.email],
      ['name', member.name ?? '-'],
      ['role', member.role],
      ['joined', output.time(timestampOf(member.added_at))],
      ...member.projects.data.map(({ name, role }) => ['project', `${name} (${role})`] as const),
    ])
  },
})

const role = clientCommand({
  name: 'role',
  summary: 'Change the role of a person in the account.',
  example: 'parkway members role 01a1e900-0fc9-7eff-b14c-dd4471e0969d auditor',
  define: (command) => command.argument('<id>', 'the id of the person').argument('<role>', ROLES.join(', ')),
  async act({ output, isJson, connect, printJson }, _, id = '', wanted = '') {
    const body = { role: parseRole(wanted) }
    const member = await connect().call((routes) =>
      routes.POST('/v1/organization/users/{user_id}', { ...at(id), body }),
    )
    if (isJson) return printJson(member)
    output.line(printable(`${member.email} is ${member.role} now.`))
  },
})

const remove = clientCommand<{ readonly yes?: boolean }>({
  name: 'remove',
  summary: 'Remove a person from the account. Their keys, sessions and streams end at once.',
  example: 'parkway members remove --yes 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<id>', 'the id of the person').option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes }, id = '') {
    const gateway = connect()
    const { email } = await gateway.call((routes) => routes.GET('/v1/organization/users/{user_id}', at(id)))
    await requireConsent(printable(`Remove ${email} from the account?`), yes === true)
    const removed = await gateway.call((routes) => routes.DELETE('/v1/organization/users/{user_id}', at(id)))
    if (isJson) return printJson(removed)
    output.line(printable(`Removed ${email}.`))
  },
})

/** Returns a role of the account. */
export function parseRole(text: string): Role {
  const known = ROLES.find((one) => one === text)
  if (known !== undefined) return known
  throw new CommandFailure(EXIT.usage, `"${text}" is no role of an account: ${ROLES.join(', ')}.`)
}

export const members = commandGroup({
  name: 'members',
  summary: 'List the people of the account, change their roles, and remove them.',
  example: 'parkway members',
  byDefault: list,
  others: [show, role, remove],
})
