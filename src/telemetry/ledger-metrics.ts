import type { Registry } from 'prom-client'
import { createCounterFamily, createGaugeFamily, createHistogramFamily, observe } from './metric-family.ts'

/** Metrics of the ledger. */
export interface LedgerMetrics {
  /** Called when charges were committed together. */
  committed(commit: { charges: number; durationMs: number }): void
  /** Called when commits start or stop failing. */
  failing(isFailing: boolean): void
  /** Called when the database does not have charges any more that it had confirmed. */
  lost(charges: number): void
  /** Called when an answer cost this much more than the account had. */
  uncovered(usd: number): void
}

const COMMIT_SECONDS = [0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

export function createLedgerMetrics(registry: Registry): LedgerMetrics {
  const labelNames: string[] = []
  const charges = createCounterFamily(registry, {
    name: 'parkway_ledger_charges_total',
    help: 'Charges that were made durable.',
    labelNames,
  }).series()
  const seconds = createHistogramFamily(registry, {
    name: 'parkway_ledger_commit_seconds',
    help: 'Time to make a group of charges durable.',
    labelNames,
    bounds: COMMIT_SECONDS,
  }).series()
  const failing = createGaugeFamily(registry, {
    name: 'parkway_ledger_failing',
    help: '1 while charges wait for a database that does not take them.',
    labelNames,
    aggregator: 'max',
  }).series()
  const lost = createCounterFamily(registry, {
    name: 'parkway_ledger_lost_charges_total',
    help: 'Charges that the database had confirmed and lost, because a standby without them was promoted.',
    labelNames,
  }).series()
  const uncovered = createCounterFamily(registry, {
    name: 'parkway_uncovered_usd_total',
    help: 'What answers cost beyond all that their accounts had, in dollars.',
    labelNames,
  }).series()
  return {
    lost: (count) => {
      lost.value += count
    },
    uncovered: (usd) => {
      uncovered.value += usd
    },
    committed: (commit) => {
      charges.value += commit.charges
      observe(seconds, commit.durationMs / 1000)
    },
    failing: (isFailing) => {
      failing.value = isFailing ? 1 : 0
    },
  }
}
