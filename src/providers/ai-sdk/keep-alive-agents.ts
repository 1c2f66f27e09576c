import { Agent, type Dispatcher } from 'undici'
import { createResendingPool } from '../resending-pool.ts'

const CONNECTIONS_PER_ORIGIN_MAX = 1024
const AGENTS_MAX = 8

/** Agents that keep connections open between calls, one for each connect timeout, because an agent has only one. */
export function createKeepAliveAgents(): { choose(connectMs: number): Dispatcher } {
  const agents = new Map<number, Agent>()
  return {
    choose(connectMs) {
      const known =
        agents.get(connectMs) ?? (agents.size >= AGENTS_MAX ? agents.values().next().value : undefined)
      if (known !== undefined) return known
      const agent = new Agent({
        connections: CONNECTIONS_PER_ORIGIN_MAX,
        pipelining: 1,
        keepAliveTimeout: 30_000,
        // However long the peer says: whoever stands between may say nothing.
        keepAliveMaxTimeout: 30_000,
        factory: (origin, options) => createResendingPool(origin, options),
        // One stream a connection: an abort then closes the socket, which every upstream notices at once.
        allowH2: false,
        connect: { timeout: connectMs },
      })
      agents.set(connectMs, agent)
      return agent
    },
  }
}
