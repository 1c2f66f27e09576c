import { isRecord } from '../../kernel/is-record.ts'
import { parseLargeJson } from '../../kernel/json/parse-json-in-turns.ts'
import { invalidAnswer } from '../failures/upstream-error.ts'
import { readUpstreamError } from '../openai-compatible/read-upstream-error.ts'

/** Returns the JSON object of a successful answer. Throws an `UpstreamError` for any other. */
export async function readJsonAnswer(
  provider: string,
  response: Response,
): Promise<Readonly<Record<string, unknown>>> {
  const text = await response.text()
  if (!response.ok) {
    const retryAfter = response.headers.get('retry-after') ?? undefined
    const headers = { 'retry-after': retryAfter }
    throw readUpstreamError({ provider, status: response.status, headers, body: Buffer.from(text) })
  }
  const answer = await parseLargeJson(text).catch(() => undefined)
  if (isRecord(answer)) return answer
  throw invalidAnswer(provider, 'its answer is not JSON')
}
