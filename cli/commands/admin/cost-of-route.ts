import { clientCommand } from '../../client-command.ts'
import type { Schemas } from '../../api/gateway-client.ts'
import { readYamlObject } from '../../files/read-yaml-object.ts'
import { printable } from '../../output/printable.ts'
import { describePrice } from './describe-price.ts'

type ListedPrice = Schemas['ModelPrice']
type Costs = NonNullable<ListedPrice['costs']>

interface CostOptions {
  readonly route?: string
  readonly reason?: string
}

/** Sets one cost. Those of other routes stay. */
export const setCost = clientCommand<CostOptions>({
  name: 'cost',
  summary: 'Set what a provider charges for a model, from a file, from now on. Only operators see it.',
  example: 'parkway admin prices cost gpt-5.4 openai price.yaml',
  define: (command) =>
    command
      .argument('<model>', 'its id')
      .argument('<provider>', 'of a route of the model')
      .argument('<file>', 'the cost in the form of a price: unit, input_usd_per_1m, output_usd_per_1m, …')
      .option('--route <name>', "the provider's name of the model, if it has several routes")
      .option('--reason <text>', 'why, for the audit log'),
  async act({ output, isJson, connect, printJson }, { route, reason }, id = '', provider = '', path = '') {
    const cost = (await readYamlObject(path)) as Costs[number]['cost']
    const gateway = connect()
    const params = { path: { id } }
    const { data } = await gateway.call((routes) => routes.GET('/v1/admin/models/{id}/prices', { params }))
    const others = (data.find(({ state }) => state === 'current')?.costs ?? []).filter(
      (one) => one.provider !== provider || (route !== undefined && one.model !== route),
    )
    const body = {
      costs: [{ provider, ...(route === undefined ? {} : { model: route }), cost }, ...others],
      ...(reason === undefined ? {} : { reason }),
    }
    const made = await gateway.call((routes) => routes.POST('/v1/admin/models/{id}/prices', { params, body }))
    if (isJson) return printJson(made)
    const since = made.effective_from === null ? '' : ` from ${made.effective_from}`
    output.line(`${printable(provider)} charges ${describePrice(cost)} for ${printable(id)}${since}.`)
  },
})

/** What a list says of costs, in a few words. */
export function describeCosts(costs: ListedPrice['costs']): string {
  if (costs === null || costs.length === 0) return '-'
  return costs.map(({ provider, cost }) => `${provider} ${describePrice(cost)}`).join('; ')
}
