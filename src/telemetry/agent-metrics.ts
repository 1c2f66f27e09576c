import type { Registry } from 'prom-client'
import { createCounterFamily } from './metric-family.ts'

/** Metrics of agents and machines. */
export interface AgentMetrics {
  exported(signal: string, outcome: string): void
  exchanged(outcome: string): void
}

export function createAgentMetrics(registry: Registry): AgentMetrics {
  const exports = createCounterFamily(registry, {
    name: 'parkway_agent_exports_total',
    help: 'OTLP exports of agents, by signal and what became of them.',
    labelNames: ['signal', 'outcome'],
  })
  const exchanges = createCounterFamily(registry, {
    name: 'parkway_token_exchanges_total',
    help: 'Tokens of trusted issuers that were exchanged, or not, by outcome.',
    labelNames: ['outcome'],
  })
  return {
    exported: (signal, outcome) => {
      exports.series(signal, outcome).value += 1
    },
    exchanged: (outcome) => {
      exchanges.series(outcome).value += 1
    },
  }
}
