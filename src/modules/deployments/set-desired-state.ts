import { AppError, notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import type { Deployment, DeploymentStatus, DesiredState } from './deployment.ts'
import { deploymentFromRow, type DeploymentRow } from './deployment-row.ts'
import { insertEvent } from './deployment-events.ts'
import { forgetToken } from './models/hub-tokens.ts'

export interface DesiredStateChange {
  readonly place: Place
  readonly deploymentId: string
  readonly desired: DesiredState
  readonly nowMs: number
}

/** Stores the state that an account wants and makes the deployment due. Has no effect if repeated, except in status `error`. */
export function writeDesiredState(database: Database, change: DesiredStateChange): Promise<Deployment> {
  const { desired, nowMs } = change
  return database.transaction(async (transaction) => {
    const deployment = await lockDeployment(transaction, change)
    const isAgain = deployment.desiredState === desired && deployment.status !== 'error'
    if (isAgain) return deployment
    if (desired === 'running') requireBudget(deployment)
    const status = statusOf(deployment, desired)
    const [row] = await transaction.query<DeploymentRow>(WISH, [
      deployment.id,
      desired,
      status,
      new Date(nowMs),
    ])
    if (row === undefined) throw new Error('a locked deployment was not returned')
    if (desired === 'deleted') await forgetToken(transaction, deployment.id)
    await insertEvent(transaction, {
      deploymentId: deployment.id,
      accountId: deployment.accountId,
      type: `${VERBS[desired]}_requested`,
      from: deployment.status,
      to: status,
      message: MESSAGES[desired],
      atMs: nowMs,
    })
    return deploymentFromRow(row)
  })
}

/** Wakes a sleeping deployment. Returns true for only one of several concurrent calls, and false if it was not asleep. */
export function writeWake(database: Database, deploymentId: string, nowMs: number): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const [row] = await transaction.query<DeploymentRow>(
      `UPDATE deployments SET desired_state = 'running', intent = intent + 1, attempt = 0, status_reason = NULL,
         next_look_at = $2, updated_at = now() WHERE id = $1 AND desired_state = 'sleeping' RETURNING *`,
      [deploymentId, new Date(nowMs)],
    )
    if (row === undefined) return false
    const { accountId, status } = deploymentFromRow(row)
    await insertEvent(transaction, {
      deploymentId,
      accountId,
      type: 'wake_requested',
      from: status,
      to: status,
      message: 'A request wakes it.',
      atMs: nowMs,
    })
    return true
  })
}

const WISH = `
  UPDATE deployments SET desired_state = $2, status = $3, intent = intent + 1, attempt = 0, status_reason = NULL,
    error_code = NULL, error_message = NULL, next_look_at = $4, updated_at = now() WHERE id = $1 RETURNING *`

const VERBS = { running: 'start', sleeping: 'sleep', stopped: 'stop', deleted: 'delete' } as const
const MESSAGES = {
  running: 'Its account wants it to run.',
  sleeping: 'Its account wants it to sleep.',
  stopped: 'Its account wants it stopped.',
  deleted: 'Its account deleted it.',
} as const

/** Returns the new status. A start queues a stopped or failed deployment; the reconciler makes all other changes. */
function statusOf({ status }: Deployment, desired: DesiredState): DeploymentStatus {
  return desired === 'running' && (status === 'stopped' || status === 'error') ? 'queued' : status
}

function requireBudget({ budgetLimitNanoUsd, spentNanoUsd }: Deployment): void {
  if (budgetLimitNanoUsd !== null && spentNanoUsd >= budgetLimitNanoUsd)
    throw new AppError('deployment_budget_reached', 'The budget of the deployment is reached.')
}

async function lockDeployment(
  transaction: Queryable,
  { place, deploymentId }: Pick<DesiredStateChange, 'place' | 'deploymentId'>,
): Promise<Deployment> {
  const rows = isUuid(deploymentId)
    ? await transaction.query<DeploymentRow>(
        `SELECT * FROM deployments WHERE id = $1 AND ${isWithin(place, '$2')} AND desired_state <> 'deleted' FOR UPDATE`,
        [deploymentId, idsOf(place)],
      )
    : []
  const [row] = rows
  if (row === undefined) throw notFound('deployment')
  return deploymentFromRow(row)
}
