import { readOrganizationPages } from '../../api/read-organization-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { timestampOf } from '../../output/format-time.ts'
import { printable } from '../../output/printable.ts'
import { printTable } from '../../output/tables/print-table.ts'

const at = (id: string) => ({ params: { path: { group_id: id } } })

const list = clientCommand<{ readonly limit: string }>({
  name: 'list',
  summary: 'List the groups of the account.',
  example: 'parkway groups',
  define: (command) => command.option('--limit <number>', 'how many', '100'),
  async act({ output, isJson, connect, printJsonLines }, { limit }) {
    const gateway = connect()
    const groups = await readOrganizationPages(parseWhole('--limit', limit), (query) =>
      gateway.call((routes) => routes.GET('/v1/organization/groups', { params: { query } })),
    )
    if (isJson) return printJsonLines(groups)
    if (groups.length === 0) return output.note('No group yet. Make one with "parkway groups create".')
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, isId: true },
        { title: 'made', of: (group) => timestampOf(group.created_at), isTime: true },
        { title: 'name', of: ({ name }) => name, rank: 1, isText: true },
      ],
      groups,
    )
  },
})

const create = clientCommand({
  name: 'create',
  summary: 'Make a group and print its id.',
  example: 'parkway groups create Engineers',
  define: (command) => command.argument('<name>', 'a name that no other group has'),
  async act({ output, isJson, connect, printJson }, _, name = '') {
    const body = { name }
    const group = await connect().call((routes) => routes.POST('/v1/organization/groups', { body }))
    if (isJson) return printJson(group)
    output.note(printable(`Made the group ${group.name}.`))
    output.line(printable(group.id))
  },
})

const members = clientCommand<{ readonly limit: string }>({
  name: 'members',
  summary: 'List the people in a group.',
  example: 'parkway groups members 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command.argument('<id>', 'the id of the group: group_…').option('--limit <number>', 'how many', '100'),
  async act({ output, isJson, connect, printJsonLines }, { limit }, id = '') {
    const gateway = connect()
    const users = await readOrganizationPages(parseWhole('--limit', limit), (query) =>
      gateway.call((routes) =>
        routes.GET('/v1/organization/groups/{group_id}/users', {
          params: { path: { group_id: id }, query },
        }),
      ),
    )
    if (isJson) return printJsonLines(users)
    if (users.length === 0) return output.note('Nobody is in it.')
    printTable(
      output,
      [
        { title: 'id', of: (user) => user.id, isId: true, rank: 3 },
        { title: 'email', of: ({ email }) => email, rank: 1, isText: true },
        { title: 'name', of: ({ name }) => name || '-', rank: 2, isText: true },
      ],
      users,
    )
  },
})

const add = clientCommand({
  name: 'add',
  summary: 'Add a person of the account to a group.',
  example: 'parkway groups add 01a1e900-0fc9-7eff-b14c-dd4471e0969d "$USER_ID"',
  define: (command) =>
    command.argument('<id>', 'the id of the group').argument('<user>', 'the id of the person: user-…'),
  async act({ output, isJson, connect, printJson }, _, id = '', userId = '') {
    const body = { user_id: userId }
    const added = await connect().call((routes) =>
      routes.POST('/v1/organization/groups/{group_id}/users', { ...at(id), body }),
    )
    if (isJson) return printJson(added)
    output.line(printable(`Added ${added.user_id}.`))
  },
})

const remove = clientCommand({
  name: 'remove',
  summary: 'Remove a person from a group.',
  example: 'parkway groups remove 01a1e900-0fc9-7eff-b14c-dd4471e0969d "$USER_ID"',
  define: (command) =>
    command.argument('<id>', 'the id of the group').argument('<user>', 'the id of the person'),
  async act({ output, isJson, connect, printJson }, _, id = '', userId = '') {
    const removed = await connect().call((routes) =>
      routes.DELETE('/v1/organization/groups/{group_id}/users/{user_id}', {
        params: { path: { group_id: id, user_id: userId } },
      }),
    )
    if (isJson) return printJson(removed)
    output.line(printable(`Removed ${userId}.`))
  },
})

const rm = clientCommand<{ readonly yes?: boolean }>({
  name: 'rm',
  summary: 'Delete a group. Its members lose the roles that only the group gave them.',
  example: 'parkway groups rm --yes 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<id>', 'the id of the group').option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes }, id = '') {
    const gateway = connect()
    const { name } = await gateway.call((routes) => routes.GET('/v1/organization/groups/{group_id}', at(id)))
    await requireConsent(printable(`Delete the group ${name}?`), yes === true)
    const deleted = await gateway.call((routes) =>
      routes.DELETE('/v1/organization/groups/{group_id}', at(id)),
    )
    if (isJson) return printJson(deleted)
    output.line(printable(`Deleted ${name}.`))
  },
})

export const groups = commandGroup({
  name: 'groups',
  summary: 'List and make groups, and say who is in them.',
  example: 'parkway groups',
  byDefault: list,
  others: [create, members, add, remove, rm],
})
