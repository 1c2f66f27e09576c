import type { Database, Queryable } from '../../storage/database.ts'
import { requestIdOf } from '../../wires/openai-responses/response-id.ts'

/** Matches the last event of an answered response. */
export const LAST_EVENT = /^\{"type":"response\.(completed|incomplete)"/

/** Identifies the response whose events these are. */
interface EventPlace {
  readonly accountId: string
  readonly responseId: string
}

/** The response and the worker that writes its events. */
export interface WrittenPlace extends EventPlace {
  /** The worker that has claimed the task. */
  readonly workerId: string
}

/** Writes consecutive events, starting at `sequence`. Returns false if the task has ended or another worker has it. */
export async function writeEvents(
  database: Queryable,
  { accountId, responseId, workerId }: WrittenPlace,
  { sequence, events }: { sequence: number; events: readonly string[] },
): Promise<boolean> {
  const rows = await database.query(WRITE_EVENTS, [
    accountId,
    responseId,
    requestIdOf(responseId),
    workerId,
    sequence,
    events.join('\n'),
  ])
  return rows.length > 0
}

// The lock makes a cancellation wait for this write, so that all readers see the same last event before it.
const IS_STANDING = `standing AS (
  SELECT FROM tasks WHERE request_id = $3 AND account_id = $1 AND worker_id = $4 AND status = 'processing' FOR SHARE)`

const WRITE_EVENTS = `
  WITH ${IS_STANDING}
  INSERT INTO response_events (account_id, response_id, sequence, events)
  SELECT $1, $2, $5, $6 FROM standing RETURNING 1 AS one`

/** Stores the answer of a background response. Returns false if the task has already ended or another worker has it. */
export async function writeAnswer(
  database: Queryable,
  { accountId, responseId, workerId }: WrittenPlace,
  { response, itemIds }: { response: string; itemIds: readonly string[] },
): Promise<boolean> {
  const rows = await database.query(WRITE_ANSWER, [
    accountId,
    responseId,
    requestIdOf(responseId),
    workerId,
    response,
    itemIds,
  ])
  return rows.length > 0
}

const WRITE_ANSWER = `
  WITH ${IS_STANDING}
  UPDATE responses SET response = $5, item_ids = $6 FROM standing WHERE account_id = $1 AND id = $2
  RETURNING 1 AS one`

const ROWS_MAX = 100

/** Reads events from a sequence number on, up to the batch limit. */
export async function readEvents(
  database: Database,
  { accountId, responseId }: EventPlace,
  fromSequence: number,
): Promise<{ sequence: number; event: string }[]> {
  const rows = await database.query<{ sequence: number; events: string }>(READ_EVENTS, [
    accountId,
    responseId,
    fromSequence,
    ROWS_MAX,
  ])
  return rows
    .flatMap(({ sequence, events }) =>
      events.split('\n').map((event, index) => ({ sequence: sequence + index, event })),
    )
    .filter(({ sequence }) => sequence >= fromSequence)
}

// The row with the first of these events may begin before it.
const READ_EVENTS = `
  SELECT sequence, events FROM response_events WHERE account_id = $1 AND response_id = $2 AND sequence >= coalesce((
    SELECT max(sequence) FROM response_events WHERE account_id = $1 AND response_id = $2 AND sequence <= $3), 0)
  ORDER BY sequence LIMIT $4`

/** Reads all events, in their order. */
export async function* readAllEvents(database: Database, place: EventPlace): AsyncGenerator<Buffer, void> {
  for (let fromSequence = 0; ;) {
    const events = await readEvents(database, place, fromSequence)
    for (const { event } of events) yield Buffer.from(event)
    const last = events.at(-1)
    if (last === undefined) return
    fromSequence = last.sequence + 1
  }
}

/** Returns how many events there are, and whether the last one ends the response. */
export async function countEvents(
  database: Queryable,
  { accountId, responseId }: EventPlace,
): Promise<{ count: number; hasEnd: boolean }> {
  const [row] = await database.query<{ sequence: number; events: string }>(
    'SELECT sequence, events FROM response_events WHERE account_id = $1 AND response_id = $2 ORDER BY sequence DESC LIMIT 1',
    [accountId, responseId],
  )
  if (row === undefined) return { count: 0, hasEnd: false }
  const events = row.events.split('\n')
  return { count: row.sequence + events.length, hasEnd: LAST_EVENT.test(events.at(-1) ?? '') }
}
