import type { GatewayClient } from '../../api/gateway-client.ts'
import { readOrganizationPages } from '../../api/read-organization-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { commandGroup } from '../../command-group.ts'
import { EXIT } from '../../exit-codes.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { printable } from '../../output/printable.ts'
import { printTable } from '../../output/tables/print-table.ts'

interface ListedRole {
  readonly id: string
  readonly name: string
  readonly permissions: readonly string[]
}

const at = (id: string) => ({ params: { path: { role_id: id } } })

const list = clientCommand<{ readonly limit: string; readonly of?: string }>({
  name: 'list',
  summary: 'List the roles of the account, or those of a person or group.',
  example: 'parkway roles',
  define: (command) =>
    command
      .option('--of <holder>', 'only those of this person (user-…) or group (group_…)')
      .option('--limit <number>', 'how many', '100'),
  async act({ output, isJson, connect, printJsonLines }, { limit, of }) {
    const gateway = connect()
    const roles = await readOrganizationPages<ListedRole>(parseWhole('--limit', limit), (query) =>
      readRoles(gateway, of, query),
    )
    if (isJson) return printJsonLines(roles)
    if (roles.length === 0) return output.note('No role.')
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, isId: true, rank: 2 },
        { title: 'name', of: ({ name }) => name, rank: 1, isText: true },
        { title: 'allows', of: ({ permissions }) => permissions.join(', '), rank: 3, isText: true },
      ],
      roles,
    )
  },
})

const create = clientCommand({
  name: 'create',
  summary: 'Make a role of permissions and print its id.',
  example: 'parkway roles create Treasurer budgets.manage usage.read',
  define: (command) =>
    command
      .argument('<name>', 'a name that no other role has')
      .argument('<permission...>', 'what it allows: a permission as "parkway roles" lists them'),
  async act({ output, isJson, connect, printJson }, _, name = '', ...permissions) {
    const body = { role_name: name, permissions: permissions.flat().filter(isText) as never[] }
    const role = await connect().call((routes) => routes.POST('/v1/organization/roles', { body }))
    if (isJson) return printJson(role)
    output.note(printable(`Made the role ${role.name}.`))
    output.line(printable(role.id))
  },
})

const change = clientCommand({
  name: 'change',
  summary: 'Change what a role allows, at once for everybody who has it.',
  example: 'parkway roles change 01a1e900-0fc9-7eff-b14c-dd4471e0969d budgets.manage',
  define: (command) =>
    command
      .argument('<id>', 'the id of the role: role_…')
      .argument('<permission...>', 'all that it allows from now on'),
  async act({ output, isJson, connect, printJson }, _, id = '', ...permissions) {
    const body = { permissions: permissions.flat().filter(isText) as never[] }
    const role = await connect().call((routes) =>
      routes.POST('/v1/organization/roles/{role_id}', { ...at(id), body }),
    )
    if (isJson) return printJson(role)
    output.line(printable(`${role.name} allows ${role.permissions.join(', ')}.`))
  },
})

const rm = clientCommand<{ readonly yes?: boolean }>({
  name: 'rm',
  summary: 'Delete a role. Who has it loses the permissions that no other role gives.',
  example: 'parkway roles rm --yes 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<id>', 'the id of the role').option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes }, id = '') {
    await requireConsent(printable(`Delete the role ${id}?`), yes === true)
    const deleted = await connect().call((routes) =>
      routes.DELETE('/v1/organization/roles/{role_id}', at(id)),
    )
    if (isJson) return printJson(deleted)
    output.line(printable(`Deleted ${deleted.id}.`))
  },
})

const give = clientCommand({
  name: 'give',
  summary: 'Give a role to a person or a group, beside those that they have.',
  example: 'parkway roles give 01a1e900-0fc9-7eff-b14c-dd4471e0969d "$USER_ID"',
  define: (command) =>
    command
      .argument('<id>', 'the id of the role')
      .argument('<holder>', 'a person (user-…) or group (group_…)'),
  async act({ output, isJson, connect, printJson }, _, id = '', holder = '') {
    const body = { role_id: id }
    const gateway = connect()
    const given = isGroup(holder)
      ? await gateway.call((routes) =>
          routes.POST('/v1/organization/groups/{group_id}/roles', {
            params: { path: { group_id: holder } },
            body,
          }),
        )
      : await gateway.call((routes) =>
          routes.POST('/v1/organization/users/{user_id}/roles', {
            params: { path: { user_id: holder } },
            body,
          }),
        )
    if (isJson) return printJson(given)
    output.line(printable(`${holder} has the role ${given.role.name} now.`))
  },
})

const take = clientCommand({
  name: 'take',
  summary: 'Remove a role from a person or a group.',
  example: 'parkway roles take 01a1e900-0fc9-7eff-b14c-dd4471e0969d "$USER_ID"',
  define: (command) =>
    command
      .argument('<id>', 'the id of the role')
      .argument('<holder>', 'a person (user-…) or group (group_…)'),
  async act({ output, isJson, connect, printJson }, _, id = '', holder = '') {
    const gateway = connect()
    const taken = isGroup(holder)
      ? await gateway.call((routes) =>
          routes.DELETE('/v1/organization/groups/{group_id}/roles/{role_id}', {
            params: { path: { group_id: holder, role_id: id } },
          }),
        )
      : await gateway.call((routes) =>
          routes.DELETE('/v1/organization/users/{user_id}/roles/{role_id}', {
            params: { path: { user_id: holder, role_id: id } },
          }),
        )
    if (isJson) return printJson(taken)
    output.line(printable(`${holder} does not have the role any more.`))
  },
})

function readRoles(
  gateway: GatewayClient,
  holder: string | undefined,
  query: { readonly limit: number; readonly after?: string },
) {
  if (holder === undefined)
    return gateway.call((routes) => routes.GET('/v1/organization/roles', { params: { query } }))
  if (isGroup(holder))
    return gateway.call((routes) =>
      routes.GET('/v1/organization/groups/{group_id}/roles', {
        params: { path: { group_id: holder }, query },
      }),
    )
  return gateway.call((routes) =>
    routes.GET('/v1/organization/users/{user_id}/roles', {
      params: { path: { user_id: holder }, query },
    }),
  )
}

function isGroup(holder: string): boolean {
  if (holder.startsWith('group_')) return true
  if (holder.startsWith('user-')) return false
  throw new CommandFailure(EXIT.usage, `<holder> is the id of a person (user-…) or a group (group_…).`)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

export const roles = commandGroup({
  name: 'roles',
  summary: 'List and make roles, and give them to people and groups.',
  example: 'parkway roles',
  byDefault: list,
  others: [create, change, rm, give, take],
})
