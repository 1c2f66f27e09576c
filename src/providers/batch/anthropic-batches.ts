import { isRecord } from '../../kernel/is-record.ts'
import { UNSURE, type BatchApi, type BatchCall, type BatchResult, type SoughtBatch } from './batch-api.ts'
import { requireId, requireList, type BatchClient } from './batch-client.ts'
import { orLost } from './openai-batches.ts'
import { readResults, toResult } from './read-result.ts'

const BATCHES = '/messages/batches'
const LINES_MAX = 100_000
/** Of 256 MB. */
const BYTES_MAX = 240 * 1024 * 1024
const PAGES_MAX = 20
/** Clocks differ by less. */
const CLOCK_MS = 600_000

/** Message Batches. https://platform.claude.com/docs/en/api/creating-message-batches */
export function createAnthropicBatches(client: BatchClient, priceMillionths: bigint): BatchApi {
  const results = (id: string, call: BatchCall) =>
    readResults(client.lines(`${BATCHES}/${id}/results`, call), readLine)
  return {
    linesMax: LINES_MAX,
    bytesMax: BYTES_MAX,
    priceMillionths,
    keyMark: client.keyMark,
    isNamed: false,
    takes: (path) => path === '/messages',
    writeLine: (id, { body }) => `{"custom_id":${JSON.stringify(id)},"params":${body}}`,
    submit: async ({ lines, onCreate }, call) => {
      await onCreate()
      const body = `{"requests":[${lines.join(',')}]}`
      const made = await client.json({ method: 'POST', path: BATCHES, body }, call)
      return requireId(client.provider, made['id'])
    },
    find: (sought, call) => find(client, sought, { call, results }),
    look: async (id, call) => {
      const batch = await orLost(client.json({ method: 'GET', path: `${BATCHES}/${id}` }, call))
      if (batch === null) return { kind: 'lost' }
      // `results_url` is not used: it would be an address that the vendor gave.
      return batch['processing_status'] === 'ended' ? { kind: 'ended', id, files: [] } : { kind: 'running' }
    },
    results: ({ id }, call) => results(id, call),
    cancel: async (id, call) => {
      await client.json({ method: 'POST', path: `${BATCHES}/${id}/cancel` }, call)
    },
    forget: async ({ id }, call) => {
      await client.json({ method: 'DELETE', path: `${BATCHES}/${id}` }, call)
    },
  }
}

interface FindParts {
  readonly call: BatchCall
  readonly results: (id: string, call: BatchCall) => AsyncGenerator<BatchResult, void>
}

/**
 * A batch of Anthropic has no place for a name of ours. One that may be it shows it in the ids of its results, once it has ended; until
 * then nobody can say.
 */
async function find(
  client: BatchClient,
  { name, lineCount, sentAtMs, findKnown }: SoughtBatch,
  { call, results }: FindParts,
): Promise<string | typeof UNSURE | null> {
  let after = ''
  let isUnsure = false
  for (let number = 0; number < PAGES_MAX; number += 1) {
    const path = `${BATCHES}?limit=100${after === '' ? '' : `&after_id=${after}`}`
    const page = await client.json({ method: 'GET', path }, call)
    const batches = requireList(client.provider, page['data']).filter(isRecord)
    const possible = batches.filter(
      (batch) => createdAtMs(batch) >= sentAtMs - CLOCK_MS && countLines(batch) === lineCount,
    )
    const ids = possible.map(({ id }) => requireId(client.provider, id))
    const known = ids.length === 0 ? new Set<string>() : await findKnown(ids)
    for (const [index, id] of ids.entries()) {
      if (known.has(id)) continue
      if (possible[index]?.['processing_status'] !== 'ended') isUnsure = true
      else if (await hasName(results(id, call), name)) return id
    }
    const last = batches.at(-1)
    if (last === undefined || page['has_more'] !== true || createdAtMs(last) < sentAtMs - CLOCK_MS)
      return isUnsure ? UNSURE : null
    after = requireId(client.provider, last['id'])
  }
  return UNSURE
}

async function hasName(results: AsyncGenerator<BatchResult, void>, name: string): Promise<boolean> {
  for await (const { id } of results) return id.startsWith(`${name}-`)
  return false
}

function createdAtMs(batch: Record<string, unknown>): number {
  return Date.parse(String(batch['created_at']))
}

function countLines({ request_counts: counts }: Record<string, unknown>): number {
  return isRecord(counts) ? Object.values(counts).reduce<number>((sum, one) => sum + Number(one), 0) : -1
}

/** Anthropic's statuses of its kinds of errors. */
const STATUS_OF_ERROR = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['timeout_error', 504],
  ['overloaded_error', 529],
])

/** Lines that expired or were cancelled have no answer. */
function readLine({ custom_id: id, result }: Record<string, unknown>): BatchResult | null {
  if (!isRecord(result)) return null
  if (result['type'] === 'succeeded') return toResult(id, 200, result['message'])
  if (result['type'] !== 'errored' || !isRecord(result['error'])) return null
  const { error } = result
  const said = isRecord(error['error']) ? error['error'] : error
  return toResult(id, STATUS_OF_ERROR.get(String(said['type'])) ?? 500, { type: 'error', error: said })
}
