import { isRecord } from '../../kernel/is-record.ts'
import type { Queryable } from '../../storage/database.ts'
import { idsOf, isWithin, type Place } from '../../storage/place.ts'
import { lookupTable } from '../../kernel/lookup-table.ts'

/** A stored response with the state of its task. */
export interface KnownResponse {
  readonly response: Readonly<Record<string, unknown>>
  readonly isBackground: boolean
  /** The task that makes it. */
  readonly taskId: string | null
  /** Whether it no longer changes. */
  readonly hasEnded: boolean
}

interface Row {
  readonly response: string
  readonly is_background: boolean
  readonly task_id: string | null
  readonly status: string | null
  readonly error_code: string | null
  readonly error_message: string | null
}

/** Returns null for a response that is unknown, expired, deleted or of another account or project. */
export async function readKnownResponse(
  queryable: Queryable,
  place: Place,
  responseId: string,
): Promise<KnownResponse | null> {
  const [row] = await queryable.query<Row>(readWithin(place), [idsOf(place), responseId])
  if (row === undefined) return null
  const value: unknown = JSON.parse(row.response)
  const stored = isRecord(value) ? value : {}
  const { is_background: isBackground, task_id: taskId } = row
  // An answered response stays answered, whatever happens to its task afterwards.
  if (!isBackground || ANSWERED.has(stored['status']))
    return { response: stored, isBackground, taskId, hasEnded: true }
  const response = { ...stored, ...describeTask(row) }
  return { response, isBackground, taskId, hasEnded: ENDED.has(response.status) }
}

const ANSWERED: ReadonlySet<unknown> = new Set(['completed', 'incomplete'])
const ENDED: ReadonlySet<unknown> = new Set(['cancelled', 'failed'])

const STATUSES = lookupTable<string>({
  pending: 'queued',
  processing: 'in_progress',
  cancelled: 'cancelled',
})

/** A response without a task was interrupted before the task was created. */
function describeTask({ status, error_code: code, error_message: message }: Row): {
  status: string
  error?: object
} {
  const shown = STATUSES[status ?? '']
  if (shown !== undefined) return { status: shown }
  return {
    status: 'failed',
    error: {
      code: code ?? 'internal_error',
      message: message ?? 'The gateway could not finish the response.',
    },
  }
}

const readWithin = (place: Place): string => `
  SELECT responses.response, responses.is_background, tasks.id AS task_id, tasks.status, tasks.error_code, tasks.error_message
  FROM responses LEFT JOIN tasks ON responses.is_background AND tasks.account_id = responses.account_id
    AND tasks.request_id = 'req_' || substr(responses.id, 6)
  WHERE ${isWithin(place, '$1', 'responses')} AND responses.id = $2 AND responses.expires_at > now()`
