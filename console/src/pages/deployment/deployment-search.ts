import type { MetricsWindow } from '../../api/deployment.ts'

export const TABS = [
  { value: 'chat', label: 'Chat' },
  { value: 'history', label: 'History' },
  { value: 'metrics', label: 'Metrics' },
  { value: 'logs', label: 'Logs' },
] as const

type DeploymentTab = (typeof TABS)[number]['value']

export const WINDOWS = ['5m', '1h', '24h', '7d'] as const satisfies readonly MetricsWindow[]

export interface DeploymentSearch {
  readonly tab?: DeploymentTab | undefined
  readonly window?: MetricsWindow | undefined
}

export function readDeploymentSearch({ tab, window }: Record<string, unknown>): DeploymentSearch {
  return {
    tab: TABS.find(({ value }) => value === tab)?.value,
    window: WINDOWS.find((known) => known === window),
  }
}
