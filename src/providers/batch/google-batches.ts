import { isRecord } from '../../kernel/is-record.ts'
import { nextLoopTurn } from '../../kernel/turns/loop-turns.ts'
import { invalidAnswer } from '../failures/upstream-error.ts'
import { UNSURE, type BatchApi, type BatchCall, type BatchResult, type BatchState } from './batch-api.ts'
import { requireId, type BatchClient } from './batch-client.ts'
import { orLost } from './openai-batches.ts'
import { toResult } from './read-result.ts'

/** Requests within the batch itself may have 20 MB. */
const BYTES_MAX = 18 * 1024 * 1024
/** Their answers come in one document, which has its limit too. */
const LINES_MAX = 200
const ANSWER_BYTES_MAX = 128 * 1024 * 1024
const PATH = /^\/models\/([\w.-]{1,200}):generateContent$/
const PAGES_MAX = 20
const ENDED = /^(BATCH|JOB)_STATE_(SUCCEEDED|FAILED|CANCELLED|EXPIRED)$/

/** Batches of Gemini with the requests in them. https://ai.google.dev/api/batch-api */
export function createGoogleBatches(client: BatchClient, priceMillionths: bigint): BatchApi {
  return {
    linesMax: LINES_MAX,
    bytesMax: BYTES_MAX,
    priceMillionths,
    keyMark: client.keyMark,
    isNamed: true,
    takes: (path) => PATH.test(path),
    writeLine: (id, { body }) => `{"request":${body},"metadata":{"key":${JSON.stringify(id)}}}`,
    submit: async ({ name, path, lines, onCreate }, call) => {
      const model = PATH.exec(path)?.[1] ?? ''
      await onCreate()
      const requests = `{"requests":{"requests":[${lines.join(',')}]}}`
      const body = `{"batch":{"display_name":${JSON.stringify(name)},"input_config":${requests}}}`
      const made = await client.json(
        { method: 'POST', path: `/models/${model}:batchGenerateContent`, body },
        call,
      )
      return readName(client, made['name'])
    },
    find: async ({ name, except }, call) => {
      let token = ''
      for (let number = 0; number < PAGES_MAX; number += 1) {
        const query = token === '' ? '' : `&pageToken=${encodeURIComponent(token)}`
        const page = await client.json({ method: 'GET', path: `/batches?pageSize=100${query}` }, call)
        const { operations, batches, nextPageToken } = page
        const listed = [operations, batches].flatMap((list): unknown[] => (Array.isArray(list) ? list : []))
        for (const one of listed.filter(isRecord)) {
          if (displayNameOf(one) !== name) continue
          const id = readName(client, one['name'])
          if (except?.has(id) !== true) return id
        }
        if (typeof nextPageToken !== 'string' || nextPageToken === '') return null
        token = nextPageToken.slice(0, 2_000)
      }
      return UNSURE
    },
    look: (id, call) => look(client, id, call),
    results: async function* ({ inlined = [] }) {
      for (const one of inlined) {
        const result = readOne(one)
        if (result !== null) yield result
        // Together they may be very long.
        await nextLoopTurn()
      }
    },
    cancel: async (id, call) => {
      await client.json({ method: 'POST', path: `/batches/${id}:cancel` }, call)
    },
    forget: async ({ id }, call) => {
      await client.json({ method: 'DELETE', path: `/batches/${id}` }, call)
    },
  }
}

/** `batches/abc` is the batch `abc`. */
function readName({ provider }: BatchClient, name: unknown): string {
  if (typeof name !== 'string' || !name.startsWith('batches/'))
    throw invalidAnswer(provider, 'it made a batch without a name')
  return requireId(provider, name.slice('batches/'.length))
}

function displayNameOf(one: Record<string, unknown>): unknown {
  return (isRecord(one['metadata']) ? one['metadata'] : one)['displayName']
}

async function look(client: BatchClient, id: string, call: BatchCall): Promise<BatchState> {
  const asked = { method: 'GET', path: `/batches/${id}`, bytesMax: ANSWER_BYTES_MAX } as const
  const operation = await orLost(client.json(asked, call))
  if (operation === null) return { kind: 'lost' }
  const metadata = isRecord(operation['metadata']) ? operation['metadata'] : {}
  const hasEnded = operation['done'] === true || ENDED.test(String(metadata['state']))
  if (!hasEnded) return { kind: 'running' }
  const inlined = findInlined(operation['response']) ?? findInlined(metadata['output']) ?? []
  return { kind: 'ended', id, files: [], inlined }
}

/** `inlinedResponses` is a list, or an object with a list of this name. */
function findInlined(output: unknown): unknown[] | null {
  if (!isRecord(output)) return null
  const { inlinedResponses } = output
  if (Array.isArray(inlinedResponses)) return inlinedResponses
  return isRecord(inlinedResponses) ? findInlined(inlinedResponses) : null
}

/** HTTP statuses of the codes of `google.rpc.Status`. Cancelled (1) and expired (4) lines have no answer. */
const STATUS_OF_CODE = new Map([
  [3, 400],
  [5, 404],
  [7, 403],
  [8, 429],
  [9, 400],
  [11, 400],
  [13, 500],
  [14, 503],
  [16, 401],
])

function readOne(one: unknown): BatchResult | null {
  if (!isRecord(one) || !isRecord(one['metadata'])) return null
  const { key } = one['metadata']
  if (isRecord(one['response'])) return toResult(key, 200, one['response'])
  const status = isRecord(one['error']) ? STATUS_OF_CODE.get(Number(one['error']['code'])) : undefined
  return status === undefined ? null : toResult(key, status, { error: one['error'] })
}
