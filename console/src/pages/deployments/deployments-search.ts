import type { DeploymentStatus } from '../../api/deployment.ts'

export const SHOWN_STATUSES = [
  'queued',
  'creating',
  'starting',
  'running',
  'sleeping',
  'stopping',
  'stopped',
  'error',
] as const

export interface DeploymentsSearch {
  readonly status?: DeploymentStatus | undefined
}

export function readDeploymentsSearch({ status }: Record<string, unknown>): DeploymentsSearch {
  return { status: SHOWN_STATUSES.find((known) => known === status) }
}
