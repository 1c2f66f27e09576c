import { eventually } from '../support/eventually.ts'
import type { TestAnswer, TestGateway } from '../support/start-test-gateway.ts'

type Asked = Pick<TestGateway, 'request' | 'fetch' | 'key'>

export interface BatchLine {
  readonly custom_id: string
  readonly body: object
  readonly url?: string
  readonly method?: string
}

/** The lines of an input file. */
export function toLines(lines: readonly BatchLine[], url: string): string {
  return lines.map((line) => `${JSON.stringify({ method: 'POST', url, ...line })}\n`).join('')
}

export async function uploadText(gateway: Asked, text: string, key: string = gateway.key): Promise<string> {
  const body = { purpose: 'batch', filename: 'lines.jsonl', file: Buffer.from(text).toString('base64') }
  const answer = await gateway.request('POST', '/v1/files', { key, body })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}

interface BatchOrder {
  readonly endpoint?: string
  readonly key?: string
  readonly members?: object
}

/** Uploads the text and makes a batch of it. */
export async function createBatch(
  gateway: Asked,
  text: string,
  { endpoint = '/v1/chat/completions', key = gateway.key, members = {} }: BatchOrder = {},
): Promise<TestAnswer> {
  const input_file_id = await uploadText(gateway, text, key)
  const body = { input_file_id, endpoint, completion_window: '24h', ...members }
  return gateway.request('POST', '/v1/batches', { key, body })
}

const ENDED = new Set(['failed', 'completed', 'expired', 'cancelled'])

/** Waits until a batch has ended. */
export function waitForBatch(gateway: Asked, id: string, key: string = gateway.key) {
  return eventually(async () => {
    const { body } = await gateway.request('GET', `/v1/batches/${id}`, { key })
    if (!ENDED.has(body.status)) throw new Error(`the batch is ${body.status}`)
    return body
  })
}

/** The lines of a file of results, by their custom_id. */
export async function readResults(gateway: Asked, fileId: string | null, key: string = gateway.key) {
  if (fileId === null) return new Map<string, Result>()
  const response = await gateway.fetch('GET', `/v1/files/${fileId}/content`, { key })
  const lines = (await response.text()).trimEnd().split('\n')
  const results = lines.map((line): Result => JSON.parse(line))
  if (new Set(results.map(({ custom_id: id }) => id)).size !== results.length)
    throw new Error('a line stands twice in a file of results')
  return new Map(results.map((result) => [result.custom_id, result]))
}

interface Result {
  readonly id: string
  readonly custom_id: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
  readonly response: { readonly status_code: number; readonly request_id: string; readonly body: any } | null
  readonly error: { readonly code: string; readonly message: string } | null
}
