import { setTimeout as delay } from 'node:timers/promises'
import { randomShare } from '../support/random-share.ts'
import type { BreakingFleet } from './breaking-fleet.ts'
import type { Call, Caller } from './spending-client.ts'
import { chatOf } from './start-fleet.ts'

interface Clients {
  readonly count: number
  /** The API key of each client, by its number. */
  readonly keyOf: (client: number) => string
  readonly headers?: Record<string, string>
  readonly tokensMax: number
  /** Each client sends at least one request, and goes on while this returns true and it is not refused. */
  readonly mayGoOn: () => boolean
}

let callNumber = 0

/** Sends requests of many clients to any of the gateways, one after the other for each client, every second one as a stream. */
export async function spendFromMany(
  { pickGateway }: Pick<BreakingFleet, 'pickGateway'>,
  caller: Caller,
  { count, keyOf, headers, tokensMax, mayGoOn }: Clients,
): Promise<Call[]> {
  const calls: Call[] = []
  const spend = async (client: number) => {
    for (;;) {
      const { url } = await pickGateway()
      const content = `call ${(callNumber += 1)}`
      const body = chatOf(content, { max_tokens: tokensMax, stream: client % 2 === 0 })
      const call = await caller.call(url, keyOf(client), body, headers)
      calls.push(call)
      if (call.status === 402 || !mayGoOn()) return
      // A client retries a failed request after a short delay, as real clients do.
      if (call.status !== 200) await delay(20 + randomShare() * 100)
    }
  }
  await Promise.all(Array.from({ length: count }, (_, client) => spend(client)))
  return calls
}

/** A gateway may refuse a request because another one, which is slow, did not return its unused credit in time. */
export async function untilSpent(ask: () => Promise<Call[]>): Promise<Call[]> {
  const calls: Call[] = []
  for (;;) {
    const round = await ask()
    calls.push(...round)
    if (!round.some(isAnswered)) return calls
  }
}

export function isAnswered({ status, isComplete }: Call): boolean {
  return status === 200 && isComplete
}
