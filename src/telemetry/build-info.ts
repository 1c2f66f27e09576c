import type { Registry } from 'prom-client'
import { createGaugeFamily } from './metric-family.ts'

/** Tells which release runs, so that a dashboard shows when it changed. */
export function registerBuildInfo(registry: Registry, version: string): void {
  const info = createGaugeFamily(registry, {
    name: 'parkway_build_info',
    help: 'Always 1; the labels are the release of the gateway and of Node.',
    labelNames: ['version', 'node'],
    aggregator: 'max',
  })
  info.series(version, process.versions.node).value = 1
}
