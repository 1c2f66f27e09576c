import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { Queryable } from '../../storage/database.ts'
import type { ResponsesRequest } from '../../wires/openai-responses/responses-request.ts'

/**
 * Returns what a worker needs of a request: all but its input, which is stored with the response. Stored as text inside the JSON
 * of the task, because JSON columns cannot hold U+0000.
 */
export function toBackgroundWork(request: ResponsesRequest): object {
  const { input: _, ...rest } = request
  return { request: stringifyJson(rest) }
}

export async function readBackgroundWork(
  queryable: Queryable,
  { accountId, responseId }: { accountId: string; responseId: string },
  work: unknown,
): Promise<{ body: ResponsesRequest }> {
  const [row] = await queryable.query<{ input: string }>(
    'SELECT input FROM responses WHERE account_id = $1 AND id = $2',
    [accountId, responseId],
  )
  if (row === undefined) throw new AppError('not_found', 'The response was deleted.')
  const text = isRecord(work) && typeof work['request'] === 'string' ? work['request'] : '{}'
  // Safe to parse: it was validated on arrival and written by this gateway.
  return { body: { ...JSON.parse(text), input: JSON.parse(row.input) } }
}
