import type { components } from '../../../api-types/generated/gateway-api.ts'
import type { GatewayClient } from '../../api/gateway-client.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { commandGroup } from '../../command-group.ts'
import { EXIT } from '../../exit-codes.ts'
import { requireConsent } from '../../input/confirm.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { readJsonObject } from '../../input/read-json-object.ts'
import { printable } from '../../output/printable.ts'
import { printTable } from '../../output/tables/print-table.ts'

type Policy = components['schemas']['ManagedSettings']

const forWhom = ({ group_id: group }: Policy): string => group ?? 'everybody'

const list = clientCommand({
  name: 'list',
  summary: 'List the settings that agents get: of everybody, then of groups, the one that decides first.',
  example: 'parkway managed-settings',
  async act({ output, isJson, connect, printJsonLines }) {
    const policies = await readPolicies(connect())
    if (isJson) return printJsonLines(policies)
    if (policies.length === 0)
      return output.note('No managed settings. Set them with "parkway managed-settings set".')
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id, isId: true, rank: 1 },
        { title: 'for', of: forWhom, rank: 2 },
        {
          title: 'priority',
          of: (policy) => (policy.group_id === null ? '-' : String(policy.priority)),
          rank: 4,
          isNumber: true,
        },
        { title: 'sets', of: ({ settings }) => Object.keys(settings).join(', '), rank: 3, isText: true },
      ],
      policies,
    )
  },
})

const show = clientCommand({
  name: 'show',
  summary: 'Print settings as JSON.',
  example: 'parkway managed-settings show 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<id>', 'their id: settings_…'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const policy = await findPolicy(connect(), id)
    if (isJson) return printJson(policy)
    output.note(printable(`Of ${forWhom(policy)}, set ${policy.updated_at}.`))
    printJson(policy.settings)
  },
})

const set = clientCommand<{ readonly file: string; readonly group?: string; readonly priority?: string }>({
  name: 'set',
  summary: 'Replace the settings that agents get, for everybody or for one group.',
  example: 'echo \'{"permissions": {"deny": ["WebFetch"]}}\' | parkway managed-settings set',
  define: (command) =>
    command
      .option('--file <path>', 'the settings as JSON; "-" for stdin', '-')
      .option('--group <id>', 'for one group only: group_…')
      .option('--priority <number>', 'among groups: 1 decides'),
  async act({ output, isJson, connect, printJson }, { file, group, priority }) {
    if (priority !== undefined && group === undefined)
      throw new CommandFailure(EXIT.usage, '--priority is for a group. Give --group too.')
    const body = {
      settings: await readJsonObject(file),
      group_id: group ?? null,
      priority: priority === undefined ? null : parseWhole('--priority', priority),
    }
    const policy = await connect().call((routes) =>
      routes.POST('/v1/organization/managed_settings', { body }),
    )
    if (isJson) return printJson(policy)
    output.note(printable(`Agents of ${forWhom(policy)} get them within an hour, or at their next start.`))
    output.line(printable(policy.id))
  },
})

const preview = clientCommand({
  name: 'preview',
  summary: 'Print what the agents of a person get.',
  example: 'parkway managed-settings preview "$USER_ID"',
  define: (command) => command.argument('<user>', 'the id of the person: user-…'),
  async act({ output, isJson, connect, printJson }, _, userId = '') {
    const shown = await connect().call((routes) =>
      routes.GET('/v1/organization/users/{user_id}/managed_settings', {
        params: { path: { user_id: userId } },
      }),
    )
    if (isJson) return printJson(shown)
    if (shown.settings === null)
      return output.note('None: nothing is set for everybody or for a group of the person.')
    output.note(printable(`Made of ${shown.managed_settings_ids.join(', then ')}.`))
    printJson(shown.settings)
  },
})

const rm = clientCommand<{ readonly yes?: boolean }>({
  name: 'rm',
  summary: 'Delete settings. Agents drop them when they ask again.',
  example: 'parkway managed-settings rm --yes 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<id>', 'their id: settings_…').option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes }, id = '') {
    const gateway = connect()
    const policy = await findPolicy(gateway, id)
    await requireConsent(printable(`Delete the settings of ${forWhom(policy)}?`), yes === true)
    const deleted = await gateway.call((routes) =>
      routes.DELETE('/v1/organization/managed_settings/{managed_settings_id}', {
        params: { path: { managed_settings_id: id } },
      }),
    )
    if (isJson) return printJson(deleted)
    output.line(printable(`Deleted the settings of ${forWhom(policy)}.`))
  },
})

async function readPolicies(gateway: GatewayClient): Promise<Policy[]> {
  const { data } = await gateway.call((routes) => routes.GET('/v1/organization/managed_settings', {}))
  return data
}

/** The API has no route for one of them, because an account has at most fifty. */
async function findPolicy(gateway: GatewayClient, id: string): Promise<Policy> {
  const found = (await readPolicies(gateway)).find((policy) => policy.id === id)
  if (found === undefined) throw new CommandFailure(EXIT.notFound, `There are no managed settings ${id}.`)
  return found
}

export const managedSettings = commandGroup({
  name: 'managed-settings',
  summary: 'Set what agents such as Claude Code may do, for everybody and by group.',
  example: 'parkway managed-settings',
  byDefault: list,
  others: [show, set, preview, rm],
})
