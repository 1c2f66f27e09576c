import { createId, firstIdAt } from '../../kernel/identifiers.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { toStorableJson } from '../../kernel/storable-text.ts'
import type { Queryable } from '../../storage/database.ts'
import type { DeploymentEvent, DeploymentStatus } from './deployment.ts'

export interface NewEvent {
  readonly deploymentId: string
  readonly accountId: string
  readonly type: string
  readonly from: DeploymentStatus | null
  readonly to: DeploymentStatus
  readonly message: string
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly atMs: number
}

/** Call it in the transaction of the change, so that the event is stored if and only if the change is. */
export async function insertEvent(transaction: Queryable, event: NewEvent): Promise<void> {
  await transaction.query(
    `INSERT INTO deployment_events (id, deployment_id, account_id, type, from_status, to_status, message, metadata, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      createId(event.atMs),
      event.deploymentId,
      event.accountId,
      event.type,
      event.from,
      event.to,
      event.message,
      toStorableJson(event.metadata ?? {}),
      new Date(event.atMs),
    ],
  )
}

interface EventRow {
  readonly id: string
  readonly type: string
  readonly from_status: DeploymentStatus | null
  readonly to_status: DeploymentStatus
  readonly message: string
  readonly metadata: Record<string, unknown>
  readonly created_at: Date
}

/** Lists events, oldest first. The caller must have checked that the account owns the deployment. */
export async function listEvents(
  queryable: Queryable,
  deploymentId: string,
  { limit, afterId, sinceMs }: PageRequest & { readonly sinceMs: number | null },
): Promise<Page<DeploymentEvent>> {
  const since = new Date(sinceMs ?? 0)
  const rows = await queryable.query<EventRow>(
    `SELECT * FROM deployment_events WHERE deployment_id = $1 AND created_at >= $3
       AND number > coalesce((SELECT number FROM deployment_events WHERE id = $2 AND deployment_id = $1), 0)
     ORDER BY number LIMIT $4`,
    [deploymentId, afterId, since, limit + 1],
  )
  const [count] = await queryable.query<{ total: number }>(
    'SELECT count(*)::int AS total FROM deployment_events WHERE deployment_id = $1 AND created_at >= $2',
    [deploymentId, since],
  )
  return {
    items: rows.slice(0, limit).map(eventFromRow),
    total: count?.total ?? 0,
    hasMore: rows.length > limit,
  }
}

function eventFromRow(row: EventRow): DeploymentEvent {
  return {
    id: row.id,
    type: row.type,
    from: row.from_status,
    to: row.to_status,
    message: row.message,
    metadata: row.metadata,
    createdAtMs: row.created_at.getTime(),
  }
}

const FORGOTTEN_AT_ONCE = 1_000

/** Deletes events from before this time, some at a time. */
export async function forgetEvents(queryable: Queryable, keptSinceMs: number): Promise<void> {
  await queryable.query(
    `DELETE FROM deployment_events WHERE id IN (SELECT id FROM deployment_events WHERE id < $1 ORDER BY id LIMIT $2)`,
    [firstIdAt(keptSinceMs), FORGOTTEN_AT_ONCE],
  )
}
