import type { Queryable } from '../database.ts'

/**
 * What a process of this release can read and one of an earlier release cannot. Each process says so where it registers, so that
 * stored data changes its form only when every living process reads the new one.
 */
export const CAPABILITIES = [
  'sealed_webhook_secrets',
  'handed_batches',
  'compare_batches',
  'export_queue',
] as const

type Capability = (typeof CAPABILITIES)[number]

/**
 * Whether every living process has the capability, so that none without it can come: an earlier release does not start on a database
 * of this one, and who had found the schema current just before has registered since (`processes_settled_at`).
 */
export async function isReadByAll(queryable: Queryable, capability: Capability): Promise<boolean> {
  const [row] = await queryable.query<{ is_read: boolean }>(
    `SELECT processes_settled_at <= now() AND NOT EXISTS (
       SELECT FROM borrowers WHERE closed_at IS NULL AND NOT capabilities @> ARRAY[$1::text]) AS is_read
     FROM installation`,
    [capability],
  )
  return row?.is_read === true
}
