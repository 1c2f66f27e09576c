import type { Database, Queryable } from '../../storage/database.ts'
import type { Deployment, DeploymentStatus, DesiredState } from './deployment.ts'
import { deploymentFromRow, type DeploymentRow } from './deployment-row.ts'
import { insertEvent } from './deployment-events.ts'

/** The right to move a deployment for a while, and what it was when that was given. */
export interface Claim {
  readonly deployment: Deployment
  readonly owner: string
}

/** Another process looks after it now: whatever was about to be written must not be. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

/** Those that are due and that nobody looks at, the longest due first. */
export async function claimDeployments(
  database: Database,
  { owner, nowMs, leaseMs, countMax }: { owner: string; nowMs: number; leaseMs: number; countMax: number },
): Promise<Claim[]> {
  const rows = await database.query<DeploymentRow>(CLAIM, [
    owner,
    new Date(nowMs),
    new Date(nowMs + leaseMs),
    countMax,
  ])
  return rows.map((row) => ({ deployment: deploymentFromRow(row), owner }))
}

const CLAIM = `
  UPDATE deployments SET lease_owner = $1, lease_until = $3
  WHERE id IN (
    SELECT id FROM deployments WHERE next_look_at <= $2 AND (lease_until IS NULL OR lease_until <= $2)
    ORDER BY next_look_at LIMIT $4 FOR UPDATE SKIP LOCKED
  ) RETURNING *`

/** For another step: as it is now, and for as long again. Null where the claim is another's. */
export async function renewClaim(
  queryable: Queryable,
  { deployment, owner }: Claim,
  untilMs: number,
): Promise<Claim | null> {
  const [row] = await queryable.query<DeploymentRow>(
    'UPDATE deployments SET lease_until = $3 WHERE id = $1 AND lease_owner = $2 RETURNING *',
    [deployment.id, owner, new Date(untilMs)],
  )
  return row === undefined ? null : { deployment: deploymentFromRow(row), owner }
}

/** Columns that a reconciler may write. What is wanted of a deployment is its account's, but for sleep and want of money. */
interface ObservedChange {
  readonly status?: DeploymentStatus
  readonly status_reason?: string | null
  readonly error_code?: string | null
  readonly error_message?: string | null
  readonly progress?: number
  readonly attempt?: number
  readonly endpoint?: string | null
  readonly started_at?: Date
  readonly stopped_at?: Date
}

/** Locks the deployment and reads it anew, in the transaction that changes it. Throws where the claim is another's. */
export async function lockClaimed(transaction: Queryable, claim: Claim): Promise<Deployment> {
  const [row] = await transaction.query<DeploymentRow>(
    'SELECT * FROM deployments WHERE id = $1 AND lease_owner = $2 FOR UPDATE',
    [claim.deployment.id, claim.owner],
  )
  if (row === undefined)
    throw new ClaimLost(`the deployment ${claim.deployment.id} is looked after elsewhere`)
  return deploymentFromRow(row)
}

interface Transition {
  readonly change: ObservedChange
  /** Of a change of status. */
  readonly event?: {
    readonly type: string
    readonly message: string
    readonly metadata?: Readonly<Record<string, unknown>>
  }
  readonly nowMs: number
}

/** Writes what was seen, with its event. The deployment must be locked. */
export async function writeTransition(
  transaction: Queryable,
  deployment: Deployment,
  { change, event, nowMs }: Transition,
): Promise<Deployment> {
  const entries = Object.entries(change)
  const sets = entries.map(([column], index) => `${column} = $${index + 2}`)
  const [row] = await transaction.query<DeploymentRow>(
    `UPDATE deployments SET ${[...sets, 'updated_at = now()'].join(', ')} WHERE id = $1 RETURNING *`,
    [deployment.id, ...entries.map(([, value]) => value)],
  )
  if (row === undefined) throw new Error('a locked deployment was not returned')
  if (event !== undefined)
    await insertEvent(transaction, {
      ...event,
      deploymentId: deployment.id,
      accountId: deployment.accountId,
      from: deployment.status,
      to: row.status,
      atMs: nowMs,
    })
  return deploymentFromRow(row)
}

/** Changes what is wanted. The deployment must be locked, and its account must not have said something else. */
export async function changeDesired(
  transaction: Queryable,
  deployment: Deployment,
  desired: DesiredState,
): Promise<Deployment> {
  const [row] = await transaction.query<DeploymentRow>(
    `UPDATE deployments SET desired_state = $2, updated_at = now() WHERE id = $1 AND intent = $3 RETURNING *`,
    [deployment.id, desired, deployment.intent],
  )
  return row === undefined ? deployment : deploymentFromRow(row)
}

/** Lets go of it until it is due again, or until somebody wants something else of it. */
export async function unclaim(
  queryable: Queryable,
  { deployment, owner }: Claim,
  nextLookAtMs: number | null,
): Promise<void> {
  // Somebody who wanted something else meanwhile has said when to look.
  await queryable.query(
    `UPDATE deployments SET lease_owner = NULL, lease_until = NULL,
       next_look_at = CASE WHEN intent = $3 THEN $4::timestamptz ELSE next_look_at END
     WHERE id = $1 AND lease_owner = $2`,
    [deployment.id, owner, deployment.intent, nextLookAtMs === null ? null : new Date(nextLookAtMs)],
  )
}
