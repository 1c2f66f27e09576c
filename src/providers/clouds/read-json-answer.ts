import { isRecord } from '../../kernel/is-record.ts'
import { parseLargeJson } from '../../kernel/json/parse-json-in-turns.ts'
import { invalidAnswer, type UpstreamError } from '../failures/upstream-error.ts'
import { readUpstreamError } from '../openai-compatible/read-upstream-error.ts'

/** Returns the JSON object of a successful answer. Throws an `UpstreamError` for any other. */
export async function readJsonAnswer(
  provider: string,
  response: Response,
): Promise<Readonly<Record<string, unknown>>> {
  if (!response.ok) throw await readFailure(provider, response)
  const answer = await parseLargeJson(await response.text()).catch(() => undefined)
  if (isRecord(answer)) return answer
  throw invalidAnswer(provider, 'its answer is not JSON')
}

/** Reads why a request was refused. */
export async function readFailure(provider: string, response: Response): Promise<UpstreamError> {
  const headers = { 'retry-after': response.headers.get('retry-after') ?? undefined }
  const body = Buffer.from(await response.text())
  return readUpstreamError({ provider, status: response.status, headers, body })
}
