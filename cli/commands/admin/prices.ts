import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { readYamlObject } from '../../files/read-yaml-object.ts'
import type { Schemas } from '../../api/gateway-client.ts'
import { parseDate } from '../../input/parse-date.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { printable } from '../../output/printable.ts'
import { adjustPrices } from './adjust-prices.ts'
import { describeCosts, setCost } from './cost-of-route.ts'
import { describePrice } from './describe-price.ts'
import { importPrices } from './import-prices.ts'

const list = clientCommand({
  name: 'list',
  summary: 'List the prices of a model: of the future, of now and of the past.',
  example: 'parkway admin prices list gpt-5.4',
  define: (command) => command.argument('<model>', 'its id'),
  async act({ output, isJson, connect, printJsonLines }, _, id = '') {
    const { data } = await connect().call((routes) =>
      routes.GET('/v1/admin/models/{id}/prices', { params: { path: { id } } }),
    )
    if (isJson) return printJsonLines(data)
    printTable(
      output,
      [
        { title: 'version', of: (price) => price.id, rank: 3 },
        { title: 'state', of: ({ state }) => state },
        { title: 'from', of: (price) => price.effective_from?.slice(0, 19) ?? '-', rank: 1 },
        { title: 'price', of: ({ price }) => describePrice(price), rank: 2, isText: true },
        { title: 'cost', of: ({ costs }) => describeCosts(costs), rank: 5, isText: true },
        { title: 'reason', of: ({ reason }) => reason ?? '-', rank: 4, isText: true },
      ],
      data,
    )
  },
})

interface SetOptions {
  readonly from?: string
  readonly reason?: string
}

const set = clientCommand<SetOptions>({
  name: 'set',
  summary: 'Set the price of a model from a file, now or later. Requests that began before keep theirs.',
  example: 'parkway admin prices set gpt-5.4 price.yaml --from 2027-01-01T00:00:00Z',
  define: (command) =>
    command
      .argument('<model>', 'its id')
      .argument('<file>', 'the price as in the catalog file: unit, input_usd_per_1m, output_usd_per_1m, …')
      .option('--from <date>', 'the moment from which it is charged; at once without it')
      .option('--reason <text>', 'why, for the audit log'),
  async act({ output, isJson, connect, printJson }, { from, reason }, id = '', path = '') {
    const body = {
      price: (await readYamlObject(path)) as Schemas['ModelPrice']['price'],
      ...(from === undefined ? {} : { effective_from: parseDate('--from', from) }),
      ...(reason === undefined ? {} : { reason }),
    }
    const made = await connect().call((routes) =>
      routes.POST('/v1/admin/models/{id}/prices', { params: { path: { id } }, body }),
    )
    if (isJson) return printJson(made)
    const since = made.effective_from === null ? '' : ` from ${made.effective_from}`
    output.line(`${printable(id)} costs ${describePrice(made.price)}${since}; its version is ${made.id}.`)
  },
})

const withdraw = clientCommand({
  name: 'withdraw',
  summary: 'Withdraw a price of the future, or return a model of the file to the price of the file.',
  example: 'parkway admin prices withdraw gpt-5.4 "$PRICE_VERSION"',
  define: (command) =>
    command.argument('<model>', 'its id').argument('<version>', 'the version of the price'),
  async act({ output, isJson, connect, printJson }, _, id = '', version = '') {
    const removed = await connect().call((routes) =>
      routes.DELETE('/v1/admin/models/{id}/prices/{version}', { params: { path: { id, version } } }),
    )
    if (isJson) return printJson(removed)
    output.line('Requests from now on are not charged by it.')
  },
})

export const prices = commandGroup({
  name: 'prices',
  summary: 'List and set prices of models, with the dates from which they are charged.',
  example: 'parkway admin prices list gpt-5.4',
  others: [list, set, setCost, withdraw, adjustPrices, importPrices],
})
