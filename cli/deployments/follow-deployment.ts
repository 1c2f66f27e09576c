import { setTimeout as sleep } from 'node:timers/promises'
import { ApiFailure } from '../api/api-failure.ts'
import type { GatewayClient, Schemas } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { formatUsd } from '../output/format-usd.ts'
import { createProgressBar } from '../output/bars/progress-bar.ts'

export type Deployment = Schemas['Deployment']
export type DeploymentEvent = Schemas['DeploymentEvent']

const LOOK_EVERY_MS = 1_000
const EVENTS_A_PAGE = 100

/** Calls back with every event from the beginning on, until the check of the deployment tells that it is enough. */
export async function followEvents(
  gateway: GatewayClient,
  id: string,
  options: {
    readonly signal: AbortSignal
    readonly onEvent: (event: DeploymentEvent) => void
    readonly isEnough: (deployment: Deployment) => boolean
  },
): Promise<Deployment> {
  let deployment: Deployment | null = null
  let after: string | undefined
  for (;;) {
    // The deployment is read before its events, so that the event that ended it is among them.
    deployment = await readDeployment(gateway, id, deployment)
    for (let hasMore = true; hasMore;) {
      const query = { limit: EVENTS_A_PAGE, ...(after === undefined ? {} : { after }) }
      const page = await gateway.call((routes) =>
        routes.GET('/v1/deployments/{id}/events', { params: { path: { id }, query } }),
      )
      for (const event of page.data) options.onEvent(event)
      after = page.data.at(-1)?.id ?? after
      hasMore = page.has_more && page.data.length > 0
    }
    if (options.isEnough(deployment)) return deployment
    await sleep(LOOK_EVERY_MS, undefined, { signal: options.signal }).catch(() => {})
    if (options.signal.aborted) throw leftRunning(deployment)
  }
}

/** A deployment that was there before and is not any more has been deleted. Its events can still be read. */
async function readDeployment(
  gateway: GatewayClient,
  id: string,
  before: Deployment | null,
): Promise<Deployment> {
  try {
    return await gateway.call((routes) => routes.GET('/v1/deployments/{id}', { params: { path: { id } } }))
  } catch (error) {
    if (before === null || !(error instanceof ApiFailure) || error.status !== 404) throw error
    return { ...before, status: 'deleted' }
  }
}

/** Waits until a deployment answers requests, and shows how far it is. */
export async function followStart(
  gateway: GatewayClient,
  id: string,
  options: { readonly signal: AbortSignal; readonly onEvent: (event: DeploymentEvent) => void },
): Promise<Deployment> {
  const bar = createProgressBar(process.stderr)
  try {
    const deployment = await followEvents(gateway, id, {
      signal: options.signal,
      onEvent: (event) => {
        bar.clear()
        options.onEvent(event)
      },
      isEnough: (current) => {
        const { status, progress, eta_minutes: eta } = current
        bar.show(progress / 100, `${status}${eta === null || eta === 0 ? '' : `, about ${eta} min`}`)
        return status === 'running' || hasFailed(current)
      },
    })
    if (deployment.status === 'running') return deployment
    throw new CommandFailure(
      EXIT.failed,
      `The deployment ${id} is ${deployment.status}: ${deployment.error_message ?? deployment.status_reason ?? 'no reason given'}`,
      `See "parkway deploy logs ${id}".`,
    )
  } catch (error) {
    throw error instanceof CommandFailure && error.exitCode === EXIT.gatewayAway
      ? new CommandFailure(
          error.exitCode,
          error.message,
          `The deployment ${id} keeps running and costs money. Show it with "parkway deploy show ${id}".`,
        )
      : error
  } finally {
    bar.clear()
  }
}

/** Errors that the gateway tries again keep the wish that the deployment runs, and another status. */
function hasFailed({ status, desired_state: wanted }: Deployment): boolean {
  return status === 'error' || status === 'deleted' || (wanted !== 'running' && status === 'stopped')
}

function leftRunning({ id, status, hourly_cost: cost }: Deployment): CommandFailure {
  if (status === 'stopped' || status === 'deleted' || status === 'error')
    return new CommandFailure(EXIT.interrupted, `The deployment ${id} is ${status}.`)
  return new CommandFailure(
    EXIT.interrupted,
    `The deployment ${id} goes on (${status}) and costs ${formatUsd(cost)} an hour while it runs.`,
    `Stop it with "parkway deploy stop ${id}", or follow it with "parkway deploy events -f ${id}".`,
  )
}
