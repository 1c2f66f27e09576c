import type { paths } from '../../api-types/generated/gateway-api.ts'
import { ApiFailure } from '../api/api-failure.ts'
import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { clientCommand } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { formatAccountUsd, formatUsd } from '../output/format-usd.ts'
import { printPairs } from '../output/tables/print-pairs.ts'
import { formatNumber } from '../output/format-number.ts'

type Readiness = paths['/readyz']['get']['responses'][200]['content']['application/json']
type Model = Schemas['Model']

export const status = clientCommand({
  name: 'status',
  summary: 'Show whether the gateway serves, what its vendors do, and what is left of the balance.',
  example: 'parkway status',
  async act({ output, isJson, connect, printJson }) {
    const gateway = connect()
    const { readiness, latencyMs } = await readReadiness(gateway)
    const [account, budget, { data: models }, providers] = await Promise.all([
      gateway.call((routes) => routes.GET('/v1/tenants/me')),
      ofRight(() => gateway.call((routes) => routes.GET('/v1/usage/budget'))),
      gateway.call((routes) => routes.GET('/v1/models')),
      ofRight(() => gateway.call((routes) => routes.GET('/v1/admin/providers'))),
    ])
    if (isJson) printJson({ gateway: readiness, account, budget, providers: providers?.data ?? null })
    else {
      const failed = Object.entries(readiness.checks).filter(([, check]) => check.status !== 'ok')
      printPairs(output, [
        ['gateway', `${gateway.connection.baseUrl}: ${readiness.status}, answered in ${latencyMs} ms`],
        ...failed.map(([name, check]) => [name, check.status] as const),
        ['account', `${account.name} (${account.id}), ${account.status}`],
        ...(budget === null
          ? []
          : ([
              ['balance', formatAccountUsd(budget.balance_usd)],
              ['spent this month', formatUsd(budget.spent_usd)],
              ['outlook', budget.outlook.summary],
            ] as const)),
        ['models', `${models.filter((model) => model.is_ready).length} of ${models.length} can be called`],
        ...(providers?.data ?? [])
          .filter(({ source }) => source !== null)
          .map((provider) => [provider.id, describeProvider(provider)] as const),
        ...(providers === null ? describeVendors(models) : []),
      ])
    }
    for (const warning of readiness.warnings) output.note(`Warning: ${warning}`)
    if (readiness.status !== 'ok')
      throw new CommandFailure(EXIT.gatewayAway, `The gateway takes no requests: ${readiness.status}.`)
  },
})

/** A gateway that takes no requests still says why, with status 503. */
async function readReadiness(gateway: GatewayClient): Promise<{ readiness: Readiness; latencyMs: number }> {
  const beganMs = performance.now()
  const readiness = await gateway.call<Readiness>(async (routes) => {
    const { data, error, response } = await routes.GET('/readyz')
    const said = data ?? (error as Partial<Readiness> | undefined)
    return said?.checks === undefined
      ? { error, response }
      : { data: said as Readiness, response: new Response(null, { headers: response.headers }) }
  })
  return { readiness, latencyMs: Math.round(performance.now() - beganMs) }
}

/** Null for what the key must not read. */
async function ofRight<Answer>(read: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 403) return null
    throw error
  }
}

function describeProvider(provider: Schemas['ProviderStatus']): string {
  const { problem, is_enabled: isEnabled, is_configured: isConfigured, missing, recent, models } = provider
  if (problem !== null) return problem
  if (!isEnabled) return 'switched off'
  if (!isConfigured) return `needs ${missing.join(', ')}`
  const broken = models.filter(({ breaker }) => breaker.state !== 'closed').map(({ model }) => model)
  const share = recent.error_share
  return [
    broken.length > 0 ? `fails for ${broken.join(', ')}` : 'works',
    `${recent.requests} requests lately`,
    ...(share === null ? [] : [`${formatNumber(share * 100, 1)} % failed`]),
  ].join(', ')
}

/** What a key without the rights of an operator sees of vendors: whose models can be called. */
function describeVendors(models: readonly Model[]): [string, string][] {
  const vendors = Map.groupBy(models, ({ provider }) => provider ?? 'none')
  return [...vendors].flatMap(([vendor, served]) => {
    const ready = served.filter((model) => model.is_ready).length
    return ready === 0 ? [] : [[vendor, `${ready} models can be called`] as [string, string]]
  })
}
