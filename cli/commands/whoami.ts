import type { GatewayClient } from '../api/gateway-client.ts'
import { clientCommand } from '../client-command.ts'
import { formatAccountUsd } from '../output/format-usd.ts'
import { printPairs } from '../output/tables/print-pairs.ts'
import { formatNumber } from '../output/format-number.ts'

export const whoami = clientCommand({
  name: 'whoami',
  summary: 'Show the account, its balance and its limits.',
  example: 'parkway whoami',
  async act({ output, isJson, connect, printJson }) {
    const gateway = connect()
    const account = await gateway.call((routes) => routes.GET('/v1/tenants/me'))
    if (isJson) return printJson(account)
    const { baseUrl, profile } = gateway.connection
    const {
      requests_per_minute: requests,
      tokens_per_minute: tokens,
      concurrent_requests: atOnce,
    } = account.limits
    const person = gateway.connection.isSignedInByPerson === true ? await readPerson(gateway) : []
    printPairs(output, [
      ['gateway', `${baseUrl} (${profile === null ? 'key from PARKWAY_API_KEY' : `profile ${profile}`})`],
      ['account', `${account.name} (${account.id}), ${account.status}`],
      ...person,
      ['key', `${account.key.id}, ${account.key.env}, ${account.key.scopes.join(', ')}`],
      ['balance', formatAccountUsd(account.balance_usd)],
      ['requests a minute', limit(requests)],
      ['tokens a minute', limit(tokens)],
      ['requests at once', limit(atOnce)],
    ])
    for (const sentence of await listDeprecations(gateway)) output.note(sentence)
  },
})

/** Says which models that keys of the account used lately will end. A gateway of an earlier version does not tell. */
async function listDeprecations(gateway: GatewayClient): Promise<string[]> {
  const { data: answer } = await gateway.routes.GET('/v1/deprecations')
  return (answer?.data ?? []).map(({ id, keys, shutdown_at: end, successor }) => {
    const named = keys.slice(0, NAMED_MAX).map(({ key }) => key.name ?? key.id)
    const others = keys.length > NAMED_MAX ? ` and ${keys.length - NAMED_MAX} more` : ''
    return `Warning: the model "${id}" ${end === null ? 'is deprecated' : `ends on ${end.slice(0, 10)}`} and is used by ${named.join(', ')}${others}.${
      successor === null ? '' : ` Use "${successor}" instead.`
    }`
  })
}

const NAMED_MAX = 3

/** The person that this profile was signed in for, and where it works. */
async function readPerson(gateway: GatewayClient): Promise<[string, string][]> {
  const { data } = await gateway.call((routes) =>
    routes.GET('/v1/grants', { params: { query: { own: true } } }),
  )
  const grant = data.find(({ is_current: isCurrent }) => isCurrent)
  if (grant === undefined) return []
  return [
    ['person', grant.user.email],
    ['project', grant.project?.name ?? 'whole account'],
  ]
}

function limit(value: number | null): string {
  return value === null ? 'no limit' : formatNumber(value)
}
