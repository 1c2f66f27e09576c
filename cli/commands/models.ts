import type { Schemas } from '../api/gateway-client.ts'
import { clientCommand } from '../client-command.ts'
import { commandGroup } from '../command-group.ts'
import { formatPrice } from '../media/format-price.ts'
import { printPairs } from '../output/tables/print-pairs.ts'
import { printTable } from '../output/tables/print-table.ts'

interface ListOptions {
  readonly category?: string
  readonly capability?: string
  readonly vendor?: string
  readonly ready?: boolean
}

const list = clientCommand<ListOptions>({
  name: 'list',
  summary: 'List the models with their prices, and whether they can be called now.',
  example: 'parkway models list --category llm --capability vision --ready',
  define: (command) =>
    command
      .option('--category <name>', 'only this category, such as llm or image')
      .option('--capability <name>', 'only models that can do this, such as vision')
      .option('--vendor <name>', 'only models of this vendor')
      .option('--ready', 'only models that can be called now'),
  async act({ output, isJson, connect, printJsonLines }, { category, capability, vendor, ready }) {
    const query = { category, capability, vendor }
    const { data } = await connect().call((routes) => routes.GET('/v1/models', { params: { query } }))
    const shown = ready === true ? data.filter((model) => model.is_ready) : data
    if (isJson) return printJsonLines(shown)
    if (shown.length === 0) return output.note('No model matches. "parkway models" lists all.')
    printTable(
      output,
      [
        { title: 'model', of: ({ id }) => id },
        { title: 'kind', of: (model) => model.category, rank: 3 },
        { title: 'context', of: ({ context }) => context, isNumber: true, rank: 5 },
        { title: 'ready', of: (model) => (model.is_ready ? 'yes' : 'no'), rank: 2 },
        { title: 'price', of: formatPrice, rank: 4, isText: true },
        ...(shown.some((model) => describeEnd(model) !== '')
          ? [{ title: 'ends', of: describeEnd, rank: 2 }]
          : []),
      ],
      shown,
    )
  },
})

const show = clientCommand({
  name: 'show',
  summary: 'Show one model: what it can do, its price and the route that serves it.',
  example: 'parkway models show gpt-5.6-luna',
  define: (command) => command.argument('<model>', 'its id or another name of it'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const model = await connect().call((routes) =>
      routes.GET('/v1/models/{id}', { params: { path: { id } } }),
    )
    if (isJson) return printJson(model)
    printPairs(output, describe(model))
  },
})

function describe(model: Schemas['Model']): [string, string][] {
  return [
    ['model', model.id],
    ['name', `${model.display_name} of ${model.vendor}`],
    ['kind', model.category],
    ['can', model.capabilities.join(', ') || '-'],
    ['context', model.context],
    ['longest answer', model.max_output_tokens === null ? '-' : `${model.max_output_tokens} tokens`],
    ['price', formatPrice(model)],
    ['route', model.endpoint],
    ['provider', model.provider],
    ['ends', describeEnd(model) || '-'],
    ['use instead', model.successor ?? '-'],
    ['ready', model.is_ready ? 'yes' : `no: ${model.not_ready_reason ?? 'unknown reason'}`],
    ['other names', model.aliases.join(', ') || '-'],
  ]
}

/** The day on which a model ends. Empty for most models. */
function describeEnd({ shutdown_date: end, deprecated_from: from }: Schemas['Model']): string {
  if (end !== null) return end.slice(0, 10)
  return from !== null && Date.parse(from) <= Date.now() ? 'deprecated' : ''
}

export const models = commandGroup({
  name: 'models',
  summary: 'List models, or show one.',
  example: 'parkway models',
  byDefault: list,
  others: [show],
})
