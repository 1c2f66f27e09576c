import type { components } from '../../api-types/generated/gateway-api.ts'
import { clientCommand } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { commandGroup } from '../command-group.ts'
import { EXIT } from '../exit-codes.ts'
import { requireConsent } from '../input/confirm.ts'
import { printTable, type Column } from '../output/tables/print-table.ts'
import { formatCountOf } from '../output/format-number.ts'

type Session = components['schemas']['Session']

const COLUMNS: readonly Column<Session>[] = [
  { title: 'session', of: ({ id }) => id, isId: true },
  { title: 'last use', of: (session) => session.last_used_at, isTime: true, rank: 2 },
  { title: 'signed in', of: (session) => session.created_at, isTime: true, rank: 5 },
  { title: 'with', of: ({ method }) => method, rank: 4 },
  { title: 'address', of: (session) => session.ip_address ?? '-', rank: 3 },
  { title: 'device', of: (session) => session.user_agent, rank: 2, isText: true },
]

const list = clientCommand({
  name: 'list',
  summary: 'List where you are signed in with a browser: device, address and last use.',
  example: 'parkway sessions',
  async act({ output, isJson, connect, printJsonLines }) {
    const { data } = await connect().call((routes) =>
      routes.GET('/v1/sessions', { params: { query: { mine: true } } }),
    )
    if (isJson) return printJsonLines(data)
    if (data.length === 0) return output.note('You are signed in with no browser.')
    printTable(output, COLUMNS, data)
  },
})

interface EndOptions {
  readonly all?: boolean
  readonly yes?: boolean
}

const end = clientCommand<EndOptions>({
  name: 'end',
  summary: 'Sign out: end one session, or sign out everywhere with --all. Keys stay valid.',
  example: 'parkway sessions end --all --yes',
  define: (command) =>
    command
      .argument('[session]', 'its id')
      .option('--all', 'end all sessions of yours in this account')
      .option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { all, yes }, id) {
    if ((id === undefined) === (all !== true))
      throw new CommandFailure(EXIT.usage, 'Give the id of a session, or --all.')
    const gateway = connect()
    if (id === undefined) {
      await requireConsent('Sign out everywhere?', yes === true)
      const answer = await gateway.call((routes) => routes.DELETE('/v1/sessions', {}))
      if (isJson) return printJson(answer)
      return output.line(`Ended ${formatCountOf(answer.ended, 'session')}.`)
    }
    const ended = await gateway.call((routes) =>
      routes.DELETE('/v1/sessions/{id}', { params: { path: { id } } }),
    )
    if (isJson) return printJson(ended)
    output.line('Ended the session.')
  },
})

export const sessions = commandGroup({
  name: 'sessions',
  summary: 'List the browsers that are signed in, and sign them out.',
  example: 'parkway sessions',
  byDefault: list,
  others: [end],
})
