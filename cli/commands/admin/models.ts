import type { paths } from '../../../api-types/generated/gateway-api.ts'
import { readPages } from '../../api/read-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { readYamlObject } from '../../files/read-yaml-object.ts'
import { requireConsent } from '../../input/confirm.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { printable } from '../../output/printable.ts'
import { describePrice } from './describe-price.ts'

/** The gateway checks what is in it. */
type NewModel = paths['/v1/admin/models']['post']['requestBody']['content']['application/json']

const MODELS_MAX = 12_000

const list = clientCommand<{ readonly own?: boolean }>({
  name: 'list',
  summary: 'List the models as they are configured, with the price of now.',
  example: 'parkway admin models list --own',
  define: (command) => command.option('--own', 'only those that were added over the API'),
  async act({ output, isJson, connect, printJsonLines }, { own = false }) {
    const gateway = connect()
    const models = await readPages(MODELS_MAX, (page) =>
      gateway.call((routes) =>
        routes.GET('/v1/admin/models', {
          params: { query: { ...page, ...(own ? { source: 'database' as const } : {}) } },
        }),
      ),
    )
    if (isJson) return printJsonLines(models)
    if (models.length === 0)
      return output.note('No model was added over the API. "parkway admin models add" adds one.')
    printTable(
      output,
      [
        { title: 'model', of: ({ id }) => id },
        { title: 'kind', of: ({ category }) => category, rank: 4 },
        { title: 'source', of: ({ source }) => (source === 'file' ? 'file' : 'API'), rank: 3 },
        { title: 'price', of: ({ price }) => describePrice(price), rank: 1, isText: true },
        { title: 'next price', of: (model) => model.next_price_from?.slice(0, 16) ?? '-', rank: 5 },
        {
          title: 'providers',
          of: ({ routes }) => [...new Set(routes.map(({ provider }) => provider))].join(', '),
          rank: 2,
          isText: true,
        },
      ],
      models,
    )
  },
})

const add = clientCommand({
  name: 'add',
  summary: 'Add a model from a file: an entry of the catalog file, in YAML or JSON.',
  example: 'parkway admin models add our-llama.yaml',
  define: (command) => command.argument('<file>', 'its entry, with id, routes and price'),
  async act({ output, isJson, connect, printJson }, _, path = '') {
    const body = (await readYamlObject(path)) as NewModel
    const model = await connect().call((routes) => routes.POST('/v1/admin/models', { body }))
    if (isJson) return printJson(model)
    output.line(`${printable(model.id)} is served from now on, for ${describePrice(model.price)}.`)
  },
})

const set = clientCommand({
  name: 'set',
  summary: 'Change members of a model from a file. What the file does not name stays; null removes a member.',
  example: 'parkway admin models set our-llama changes.yaml',
  define: (command) =>
    command.argument('<model>', 'its id').argument('<file>', 'the members that change, in YAML or JSON'),
  async act({ output, isJson, connect, printJson }, _, id = '', path = '') {
    const body = await readYamlObject(path)
    const model = await connect().call((routes) =>
      routes.PATCH('/v1/admin/models/{id}', { params: { path: { id } }, body }),
    )
    if (isJson) return printJson(model)
    output.line(`${printable(model.id)} is changed.`)
  },
})

const remove = clientCommand<{ readonly yes?: boolean }>({
  name: 'rm',
  summary: 'Remove a model that was added over the API. Requests that use it end as usual.',
  example: 'parkway admin models rm --yes our-llama',
  define: (command) => command.argument('<model>', 'its id').option('-y, --yes', 'do not ask'),
  async act({ output, isJson, connect, printJson }, { yes = false }, id = '') {
    if (id === '') throw new CommandFailure(EXIT.usage, 'Which model?')
    await requireConsent(`Remove the model ${id}? Nobody can use it any more.`, yes)
    const removed = await connect().call((routes) =>
      routes.DELETE('/v1/admin/models/{id}', { params: { path: { id } } }),
    )
    if (isJson) return printJson(removed)
    output.line(`${printable(id)} is removed.`)
  },
})

export const models = commandGroup({
  name: 'models',
  summary: 'Add, change and remove models while the gateway runs.',
  example: 'parkway admin models',
  byDefault: list,
  others: [add, set, remove],
})
