import { readOrganizationPages } from '../../api/read-organization-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { commandGroup } from '../../command-group.ts'
import { EXIT } from '../../exit-codes.ts'
import { collect } from '../../input/collect.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { timestampOf } from '../../output/format-time.ts'
import { printable } from '../../output/printable.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { parseRole } from './members.ts'

const PROJECT_ROLES = ['owner', 'member', 'viewer'] as const

interface CreateOptions {
  readonly role: string
  readonly to: readonly string[]
}

const create = clientCommand<CreateOptions>({
  name: 'create',
  summary: 'Invite a person, and print the link. It works once and is shown this once.',
  example: 'parkway invite create grace@example.com --role reader',
  define: (command) =>
    command
      .argument('<email>', 'the address of the person')
      .option('--role <name>', 'owner, billing, auditor or reader', 'reader')
      .option('--to <project>', 'add to a project, as id or id=role (owner, member, viewer)', collect, []),
  async act({ output, isJson, connect, printJson }, { role, to }, email = '') {
    const body = { email, role: parseRole(role), projects: to.map(parseProject) }
    const invite = await connect().call((routes) => routes.POST('/v1/organization/invites', { body }))
    if (isJson) return printJson(invite)
    const told = `An invitation of ${invite.email} as ${invite.role}.`
    if (invite.url === null) return output.note(printable(`${told} The link was mailed to them.`))
    output.note(printable(`${told} The link is shown this once: send it on.`))
    output.line(printable(invite.url))
  },
})

const list = clientCommand<{ readonly limit: string }>({
  name: 'list',
  summary: 'List invitations, newest first.',
  example: 'parkway invite list',
  define: (command) => command.option('--limit <number>', 'how many', '100'),
  async act({ output, isJson, connect, printJsonLines }, { limit }) {
    const gateway = connect()
    const invites = await readOrganizationPages(parseWhole('--limit', limit), (query) =>
      gateway.call((routes) => routes.GET('/v1/organization/invites', { params: { query } })),
    )
    if (isJson) return printJsonLines(invites)
    if (invites.length === 0) return output.note('Nobody was invited.')
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, isId: true, rank: 3 },
        { title: 'email', of: ({ email }) => email, rank: 1, isText: true },
        { title: 'role', of: ({ role }) => role, rank: 4 },
        { title: 'state', of: ({ status }) => status, rank: 2 },
        { title: 'expires', of: (invite) => timestampOf(invite.expires_at), isTime: true, rank: 5 },
      ],
      invites,
    )
  },
})

const revoke = clientCommand({
  name: 'revoke',
  summary: 'Withdraw an invitation. Its link stops working.',
  example: 'parkway invite revoke 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<id>', 'the id of the invitation: invite-…'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const ended = await connect().call((routes) =>
      routes.DELETE('/v1/organization/invites/{invite_id}', { params: { path: { invite_id: id } } }),
    )
    if (isJson) return printJson(ended)
    output.line(printable(`Withdrawn: ${ended.id}.`))
  },
})

function parseProject(text: string): { id: string; role: (typeof PROJECT_ROLES)[number] } {
  const [id = '', wanted = 'member'] = text.split('=', 2)
  const role = PROJECT_ROLES.find((known) => known === wanted)
  if (role !== undefined) return { id, role }
  throw new CommandFailure(EXIT.usage, `"${wanted}" is no role of a project: ${PROJECT_ROLES.join(', ')}.`)
}

export const invite = commandGroup({
  name: 'invite',
  summary: 'Invite people to the account.',
  example: 'parkway invite list',
  others: [create, list, revoke],
})
