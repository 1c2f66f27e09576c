import type { Logger } from '../../kernel/logger.ts'
import { isReadByAll } from '../../storage/borrowing/capabilities.ts'
import type { Database } from '../../storage/database.ts'

/**
 * Makes the sinks of the settings known, so that requests are queued for them from now on. Waits until every process queues what it
 * writes: one of an earlier release does not.
 */
export async function registerSinks(
  database: Database,
  names: readonly string[],
  logger: Logger,
): Promise<void> {
  const known = await database.query<{ name: string }>(
    'UPDATE export_sinks SET seen_at = now() WHERE name = ANY ($1::text[]) RETURNING name',
    [names],
  )
  const missing = names.filter((name) => !known.some((one) => one.name === name))
  if (missing.length === 0 || !(await isReadByAll(database, 'export_queue'))) return
  // After the last number that was given: a sink gets what is written after it is known.
  const added = await database.query<{ name: string }>(
    `INSERT INTO export_sinks (name, position)
     SELECT name, CASE WHEN is_called THEN last_value ELSE last_value - 1 END
     FROM unnest($1::text[]) AS name, export_queue_number_seq
     ON CONFLICT DO NOTHING RETURNING name`,
    [missing],
  )
  for (const { name } of added) logger.info({ sink: name }, 'exports to a new sink begin')
}
