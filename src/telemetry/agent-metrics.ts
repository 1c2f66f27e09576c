import type { Registry } from 'prom-client'
import { createCounterFamily } from './metric-family.ts'

/** Metrics of what agents export about themselves. */
export interface AgentMetrics {
  exported(signal: string, outcome: string): void
}

export function createAgentMetrics(registry: Registry): AgentMetrics {
  const exports = createCounterFamily(registry, {
    name: 'parkway_agent_exports_total',
    help: 'OTLP exports of agents, by signal and what became of them.',
    labelNames: ['signal', 'outcome'],
  })
  return {
    exported: (signal, outcome) => {
      exports.series(signal, outcome).value += 1
    },
  }
}
