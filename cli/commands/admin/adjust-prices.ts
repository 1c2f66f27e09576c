import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import type { Schemas } from '../../api/gateway-client.ts'
import { parseDate } from '../../input/parse-date.ts'
import { parseDecimal } from '../../input/parse-number.ts'
import { printTable } from '../../output/tables/print-table.ts'

type Adjustment = Schemas['PriceAdjustment']

const list = clientCommand({
  name: 'list',
  summary: 'List the markups and discounts of all times, the latest first.',
  example: 'parkway admin prices adjust list',
  async act({ output, isJson, connect, printJsonLines }) {
    const { data } = await connect().call((routes) =>
      routes.GET('/v1/admin/price_adjustments', { params: { query: { limit: 100 } } }),
    )
    if (isJson) return printJsonLines(data)
    printTable(
      output,
      [
        { title: 'id', of: ({ id }) => id },
        { title: 'state', of: ({ state }) => state.replace('_', ' '), rank: 1 },
        { title: 'for', of: describeScope, isText: true },
        { title: 'terms', of: describeTerms, isText: true },
        { title: 'from', of: (one) => one.effective_from.slice(0, 19), rank: 2 },
        { title: 'until', of: (one) => one.effective_until?.slice(0, 19) ?? '-', rank: 3 },
        { title: 'reason', of: ({ reason }) => reason ?? '-', rank: 4, isText: true },
      ],
      data,
    )
  },
})

function describeScope(one: Adjustment): string {
  const whom = one.project_id ?? one.account_id ?? 'everybody'
  return one.model === null ? whom : `${whom}, ${one.model}`
}

function describeTerms({ percent, per_unit: perUnit }: Adjustment): string {
  if (percent !== null) return `${percent > 0 ? '+' : ''}${percent} %`
  return Object.entries(perUnit ?? {})
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ')
}

interface AddOptions {
  readonly forAccount?: string
  readonly forProject?: string
  readonly model?: string
  readonly from?: string
  readonly until?: string
  readonly reason?: string
}

const add = clientCommand<AddOptions>({
  name: 'add',
  summary: 'Add a markup of so many percent, or a discount with a negative number, now or later.',
  example: 'parkway admin prices adjust add 12.5 --model gpt-5.4 --reason "Our markup"',
  define: (command) =>
    command
      .argument('<percent>', 'how many; write -- before a negative number')
      .option('--for-account <id>', 'only for this account')
      .option('--for-project <id>', 'only for this project')
      .option('-m, --model <id>', 'only for this model')
      .option('--from <date>', 'the moment from which it is applied; at once without it')
      .option('--until <date>', 'when it ends')
      .option('--reason <text>', 'why, for the audit log'),
  async act({ output, isJson, connect, printJson }, options, percent = '') {
    const { forAccount: account, forProject: project, model, from, until, reason } = options
    const body = {
      percent: parseDecimal('<percent>', percent),
      ...(account === undefined ? {} : { account_id: account }),
      ...(project === undefined ? {} : { project_id: project }),
      ...(model === undefined ? {} : { model }),
      ...(from === undefined ? {} : { effective_from: parseDate('--from', from) }),
      ...(until === undefined ? {} : { effective_until: parseDate('--until', until) }),
      ...(reason === undefined ? {} : { reason }),
    }
    const made = await connect().call((routes) => routes.POST('/v1/admin/price_adjustments', { body }))
    if (isJson) return printJson(made)
    output.line(
      `${describeTerms(made)} for ${describeScope(made)} from ${made.effective_from}; its id is ${made.id}.`,
    )
  },
})

const end = clientCommand({
  name: 'end',
  summary: 'End a markup or discount now, or withdraw one before its moment.',
  example: 'parkway admin prices adjust end "$ADJUSTMENT_ID"',
  define: (command) => command.argument('<id>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const ended = await connect().call((routes) =>
      routes.DELETE('/v1/admin/price_adjustments/{id}', { params: { path: { id } } }),
    )
    if (isJson) return printJson(ended)
    output.line('Requests from now on are not adjusted by it.')
  },
})

export const adjustPrices = commandGroup({
  name: 'adjust',
  summary: 'Markups and discounts by account, project and model, with dates.',
  example: 'parkway admin prices adjust list',
  others: [list, add, end],
})
