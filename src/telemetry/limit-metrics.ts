import type { Registry } from 'prom-client'
import { createCounterFamily, createGaugeFamily } from './metric-family.ts'

/** Metrics of the limits. */
export interface LimitMetrics {
  /** Called when a limit refused a request. */
  refused(layer: string): void
  /** Whether the process refuses requests because it has too much to do. */
  overloaded(isOverloaded: boolean): void
  /** The number of limits of which this process has borrowed a part. */
  borrowed(count: number): void
  /** Whether the limits use only what is borrowed, because the database is unavailable. */
  databaseAway(isAway: boolean): void
}

export function createLimitMetrics(registry: Registry): LimitMetrics {
  const refusals = createCounterFamily(registry, {
    name: 'parkway_limit_refusals_total',
    help: 'Requests that a limit refused.',
    labelNames: ['layer'],
  })
  const borrowed = createGaugeFamily(registry, {
    name: 'parkway_limits_borrowed',
    help: 'Limits of which a part is borrowed.',
    labelNames: [],
  }).series()
  const away = createGaugeFamily(registry, {
    name: 'parkway_limits_database_away',
    help: '1 while limits have to do with what is borrowed, because the database does not answer.',
    labelNames: [],
    aggregator: 'max',
  }).series()
  const overloaded = createGaugeFamily(registry, {
    name: 'parkway_overloaded',
    help: 'Processes that refuse requests because they have more than they can answer.',
    labelNames: [],
  }).series()
  return {
    overloaded: (isOverloaded) => {
      overloaded.value = isOverloaded ? 1 : 0
    },
    refused: (layer) => {
      refusals.series(layer).value += 1
    },
    borrowed: (count) => {
      borrowed.value = count
    },
    databaseAway: (isAway) => {
      away.value = isAway ? 1 : 0
    },
  }
}
