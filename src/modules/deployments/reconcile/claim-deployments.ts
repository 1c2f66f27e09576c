import type { Database, Queryable } from '../../../storage/database.ts'
import type { Deployment, DeploymentStatus, DesiredState } from '../deployment.ts'
import { deploymentFromRow, type DeploymentRow } from '../deployment-row.ts'
import { insertEvent } from '../deployment-events.ts'

/** A lease on a deployment, with the deployment as it was when the lease was taken or renewed. */
export interface Claim {
  readonly deployment: Deployment
  readonly owner: string
}

/** Another process has the claim now, so the caller must not write. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost'
}

interface ClaimOrder {
  readonly owner: string
  readonly nowMs: number
  readonly leaseMs: number
  readonly countMax: number
  /** What this process works on. It does not take these over from itself if a step takes longer than the lease. */
  readonly runningIds: readonly string[]
}

/** Claims deployments that are due and not leased, longest overdue first. */
export async function claimDeployments(
  database: Database,
  { owner, nowMs, leaseMs, countMax, runningIds }: ClaimOrder,
): Promise<Claim[]> {
  const rows = await database.query<DeploymentRow>(CLAIM, [
    owner,
    new Date(nowMs),
    new Date(nowMs + leaseMs),
    countMax,
    runningIds,
  ])
  return rows.map((row) => ({ deployment: deploymentFromRow(row), owner }))
}

const CLAIM = `
  UPDATE deployments SET lease_owner = $1, lease_until = $3
  WHERE id IN (
    SELECT id FROM deployments
    WHERE next_look_at <= $2 AND (lease_until IS NULL OR lease_until <= $2 AND id <> ALL ($5::uuid[]))
    ORDER BY next_look_at LIMIT $4 FOR UPDATE SKIP LOCKED
  ) RETURNING *`

/** Extends the lease and reads the deployment again. Returns null if another process has the claim. */
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

/** Columns that a reconciler may write. It changes the desired state only through `changeDesired`. */
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

/** Locks and reads the deployment, in the transaction that changes it. Throws `ClaimLost` if another process has the claim. */
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
  /** The event to record with the change. */
  readonly event?: {
    readonly type: string
    readonly message: string
    readonly metadata?: Readonly<Record<string, unknown>>
  }
  readonly nowMs: number
}

/** Writes observed values and their event. The deployment must be locked. */
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

/** Changes the desired state, unless `intent` has changed since `deployment` was read. The deployment must be locked. */
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

/** Releases the claim and sets the time of the next reconciliation; null for none. */
export async function unclaim(
  queryable: Queryable,
  { deployment, owner }: Claim,
  nextLookAtMs: number | null,
): Promise<void> {
  // A start, stop or wake during this one has set its own next reconciliation, which must stay.
  await queryable.query(
    `UPDATE deployments SET lease_owner = NULL, lease_until = NULL,
       next_look_at = CASE WHEN intent = $3 THEN $4::timestamptz ELSE next_look_at END
     WHERE id = $1 AND lease_owner = $2`,
    [deployment.id, owner, deployment.intent, nextLookAtMs === null ? null : new Date(nextLookAtMs)],
  )
}
