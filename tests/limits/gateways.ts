import { startTestGateway, type TestAnswer, type TestGateway } from '../support/start-test-gateway.ts'

/** Starts several gateways like the processes of one: each has its own port, all share a database. */
export async function startGateways(
  count: number,
  settings: Record<string, string> = {},
): Promise<{ gateways: TestGateway[]; close: () => Promise<void> }> {
  const first = await startTestGateway({ settings })
  const { connectionString } = first
  const others = await Promise.all(
    Array.from({ length: count - 1 }, () => startTestGateway({ connectionString, settings })),
  )
  return {
    gateways: [first, ...others],
    close: async () => {
      await Promise.all(others.map((gateway) => gateway.close()))
      await first.close()
    },
  }
}

export async function createKey(
  gateway: TestGateway,
  members: object,
  creator = gateway.key,
): Promise<string> {
  const body = { name: 'a key', env: 'dev', ...members }
  const answer = await gateway.request('POST', '/v1/tenants/me/api-keys', { key: creator, body })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.key
}

export function sendChat(gateway: TestGateway, key = gateway.key, members: object = {}): Promise<TestAnswer> {
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], ...members }
  return gateway.request('POST', '/v1/chat/completions', { key, body })
}

/** Returns settings with one tier of limits for all accounts. */
export function limitEverybody(limits: object, rest: object = {}): Record<string, string> {
  const tier = {
    name: 'everybody',
    balance_usd: 0,
    requests_per_minute: null,
    tokens_per_minute: null,
    concurrent_requests: null,
    spend_usd_per_minute: null,
    ...limits,
  }
  return { PARKWAY_LIMITS: JSON.stringify({ tiers: [tier], ...rest }) }
}
