import { setTimeout as delay } from 'node:timers/promises'
import { isRecord } from '../../kernel/is-record.ts'
import { invalidAnswer, UpstreamError } from '../failures/upstream-error.ts'
import { UNSURE, type BatchApi, type BatchCall, type BatchResult, type BatchState } from './batch-api.ts'
import { formOf, requireId, requireList, type BatchClient } from './batch-client.ts'
import { FILES_A_PAGE, NAME, type OpenAiDialect } from './openai-dialects.ts'
import { readResults, toResult } from './read-result.ts'

/** Clocks differ by less. */
const CLOCK_MS = 3_600_000
const PAGES_MAX = 50
/** How long a vendor may take to read an upload before a batch of it is made. */
const FILE_LOOKS_MAX = 60
const FILE_PAUSE_MS = 1_000
const LINES_MAX = 50_000
/** Of the 100 MB or more that each of these vendors takes. */
const BYTES_MAX = 90 * 1024 * 1024

export function createOpenAiBatches(
  client: BatchClient,
  dialect: OpenAiDialect,
  priceMillionths: bigint,
): BatchApi {
  const { provider } = client
  return {
    linesMax: LINES_MAX,
    bytesMax: BYTES_MAX,
    priceMillionths,
    keyMark: client.keyMark,
    isNamed: true,
    takes: (path) => dialect.paths.has(path),
    writeLine: (id, { path, body }) =>
      `{"custom_id":${JSON.stringify(id)},"method":"POST","url":${JSON.stringify(dialect.endpointOf(path))},"body":${dialect.bodyOf(body)}}`,
    submit: async ({ name, path, model, lines, onCreate }, call) => {
      const filename = filenameOf(name)
      const form = formOf(dialect.uploadFields(filename), { lines, filename })
      const uploaded = await client.json({ method: 'POST', path: dialect.uploads, body: form }, call)
      const file = requireId(provider, uploaded['id'])
      if (dialect.readsUploads) await waitForFile(client, file, call)
      await onCreate()
      const endpoint = dialect.endpointOf(path)
      const body = JSON.stringify(dialect.create({ file, endpoint, model, name }))
      const made = await client.json({ method: 'POST', path: dialect.batches, body }, call)
      return requireId(provider, dialect.madeOf(made)['id'])
    },
    find: async ({ name, sentAtMs, except }, call) => {
      const uploads = dialect.isNamed ? null : await findUploads(client, dialect, { name, sentAtMs, call })
      let after: string | null = null
      for (let number = 0; number < PAGES_MAX; number += 1) {
        const query = dialect.page(after, number)
        if (query === null) return null
        const answer = await client.value({ method: 'GET', path: dialect.batches + query }, call)
        const batches = requireList(provider, isRecord(answer) ? answer['data'] : answer)
        for (const batch of batches) {
          if (!isRecord(batch)) continue
          const { id, metadata, input_file_id: file } = batch
          const isOurs =
            uploads === null ? isRecord(metadata) && metadata[NAME] === name : uploads.includes(String(file))
          if (!isOurs) continue
          const found = requireId(provider, id)
          if (except?.has(found) !== true) return found
        }
        const last = batches.at(-1)
        if (!isRecord(last)) return null
        if (Number(last['created_at']) * 1_000 < sentAtMs - CLOCK_MS && dialect.isNewestFirst) return null
        after = requireId(provider, last['id'])
      }
      return UNSURE
    },
    look: (id, call) => look(client, dialect, id, call),
    results: async function* ({ files }, call) {
      for (const file of files) yield* readResults(client.lines(`/files/${file}/content`, call), readLine)
    },
    cancel: async (id, call) => {
      await client.json({ method: 'POST', path: `${dialect.batches}/${id}/cancel` }, call)
    },
    clear: async ({ name, sentAtMs }, call) => {
      for (const file of await findUploads(client, dialect, { name, sentAtMs, call }))
        await orLost(client.json({ method: 'DELETE', path: `/files/${file}` }, call))
    },
    forget: async ({ files, leftFiles = [] }, call) => {
      for (const file of [...files, ...leftFiles])
        await orLost(client.json({ method: 'DELETE', path: `/files/${file}` }, call))
    },
  }
}

interface Upload {
  readonly name: string
  readonly sentAtMs: number
  readonly call: BatchCall
}

/** Files of a part are found by their name, because a process may die before it has stored the id of one. */
async function findUploads(
  client: BatchClient,
  dialect: OpenAiDialect,
  { name, sentAtMs, call }: Upload,
): Promise<string[]> {
  const filename = filenameOf(name)
  const found: string[] = []
  let after: string | null = null
  for (let number = 0; number < PAGES_MAX; number += 1) {
    const query = dialect.filePage(after, number)
    if (query === null) break
    const { data } = await client.json({ method: 'GET', path: `/files${query}` }, call)
    const files = requireList(client.provider, data).filter(isRecord)
    for (const file of files)
      if (file['filename'] === filename) found.push(requireId(client.provider, file['id']))
    const last = files.at(-1)
    if (last === undefined || files.length < FILES_A_PAGE) break
    if (Number(last['created_at']) * 1_000 < sentAtMs - CLOCK_MS) break
    after = requireId(client.provider, last['id'])
  }
  return found
}

/** Throws for a file that the vendor does not take, or takes too long to read. */
async function waitForFile(client: BatchClient, id: string, call: BatchCall): Promise<void> {
  for (let looks = 1; ; looks += 1) {
    const { status } = await client.json({ method: 'GET', path: `/files/${id}` }, call)
    if (status === undefined || status === 'processed') return
    if (status === 'error' || status === 'deleted' || looks === FILE_LOOKS_MAX)
      throw invalidAnswer(
        client.provider,
        `it does not take a file of a batch, which is ${status === 'error' || status === 'deleted' ? status : 'not read yet'}`,
      )
    await delay(FILE_PAUSE_MS, undefined, { signal: call.signal })
  }
}

function filenameOf(name: string): string {
  return `parkway-${name}.jsonl`
}

async function look(
  client: BatchClient,
  dialect: OpenAiDialect,
  id: string,
  call: BatchCall,
): Promise<BatchState> {
  const batch = await orLost(client.json({ method: 'GET', path: `${dialect.batches}/${id}` }, call))
  if (batch === null) return { kind: 'lost' }
  const status = String(batch['status'])
  if (dialect.running.has(status)) return { kind: 'running' }
  const read = (names: readonly string[]) =>
    names.flatMap((name) => {
      const file = batch[name]
      return typeof file === 'string' && file !== '' ? [requireId(client.provider, file)] : []
    })
  const files = read(dialect.outputs)
  // Lines of a batch that only seems to have ended would be asked, and paid, a second time.
  if (files.length === 0 && !dialect.ended.has(status)) return { kind: 'running' }
  return { kind: 'ended', id, files, leftFiles: read(dialect.inputs) }
}

/** Null if the vendor does not know it. */
export async function orLost<Found>(asked: Promise<Found>): Promise<Found | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof UpstreamError && error.details.status === 404) return null
    throw error
  }
}

/** A line that expired or was cancelled has an error instead of a response. */
function readLine({ custom_id: id, response }: Record<string, unknown>): BatchResult | null {
  return isRecord(response) ? toResult(id, response['status_code'], response['body']) : null
}
