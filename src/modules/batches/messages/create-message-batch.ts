import type { Readable } from 'node:stream'
import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import { foldName } from '../../../kernel/fold-name.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import { nextLoopTurn } from '../../../kernel/turns/loop-turns.ts'
import { PROTECTIVE_MEMBERS } from '../../../providers/requests/protective-members.ts'
import type { Files } from '../../files/files.ts'
import type { Caller } from '../../keys/keys.ts'
import type { Batch } from '../batch.ts'
import { LINE_BYTES_MAX, parseLine } from '../lines/check-line.ts'
import { splitRequests, type RawRequest } from './split-requests.ts'

/** What each line asks. */
export const MESSAGES_ENDPOINT = '/v1/messages'
/** As long as Anthropic keeps results. */
const KEPT_SECONDS = 29 * 86_400
const REQUESTS_MAX = 100_000
const PART_LENGTH_MAX = 256 * 1024
/** How long the event loop is held before other work gets its turn. */
const TURN_MS_MAX = 5
const CUSTOM_ID = /^[a-zA-Z0-9_-]{1,64}$/

interface NewMessageBatch {
  readonly inputFileId: string
  readonly outputSeconds: number
  readonly linesTotal: number
}

/** Stores the requests of a body as a file of lines while they are read, and makes a batch of it. */
export async function createMessageBatch(
  files: Pick<Files, 'store' | 'delete'>,
  { caller, body }: { readonly caller: Caller; readonly body: Readable },
  create: (order: NewMessageBatch) => Promise<Batch>,
): Promise<Batch> {
  const ids = new Set<string>()
  const storing = files.store({
    place: caller,
    keyId: caller.keyId,
    purpose: 'batch',
    filename: 'message_batch.jsonl',
    source: writeLines(body, ids),
    expiresAfterSeconds: KEPT_SECONDS,
  })
  // Without room, the body is not read at all, and its file would stay open and on the disk.
  const file = await storing.finally(() => body.destroy())
  try {
    return await create({ inputFileId: file.id, outputSeconds: KEPT_SECONDS, linesTotal: ids.size })
  } catch (error) {
    await files.delete(caller, file.id).catch(() => {})
    throw error
  }
}

async function* writeLines(body: AsyncIterable<Buffer>, ids: Set<string>): AsyncGenerator<Buffer, void> {
  let part = ''
  let turnEndMs = performance.now() + TURN_MS_MAX
  for await (const raw of splitRequests(body, LINE_BYTES_MAX, refuseProtective)) {
    part += await writeLine(raw, ids)
    if (performance.now() >= turnEndMs) {
      await nextLoopTurn()
      turnEndMs = performance.now() + TURN_MS_MAX
    }
    if (part.length < PART_LENGTH_MAX) continue
    yield Buffer.from(part)
    part = ''
  }
  if (part !== '') yield Buffer.from(part)
}

/** The requests have safety members of their own. One beside them would protect nothing. */
function refuseProtective(name: string): void {
  if (PROTECTIVE_MEMBERS.includes(foldName(name)))
    throw new AppError('unsupported_parameter', `'${name}' would not be honoured here.`, { param: name })
}

async function writeLine({ index, content }: RawRequest, ids: Set<string>): Promise<string> {
  const param = `requests.${index}`
  if (index >= REQUESTS_MAX) throw invalidValue('requests', `A batch has ${REQUESTS_MAX} requests at most.`)
  const request = await parseLine(content).catch((error: unknown) => {
    throw new AppError('invalid_json', `'${param}' is not valid JSON.`, { param, cause: error })
  })
  const { custom_id: customId, params } = isRecord(request) ? request : {}
  if (typeof customId !== 'string' || !CUSTOM_ID.test(customId))
    throw invalidValue(
      `${param}.custom_id`,
      `'${param}.custom_id' must have 1 to 64 letters, digits, hyphens or underscores.`,
    )
  if (!isRecord(params)) throw invalidValue(`${param}.params`, `'${param}.params' must be an object.`)
  if (ids.has(customId)) throw invalidValue(`${param}.custom_id`, `The custom_id '${customId}' occurs twice.`)
  ids.add(customId)
  return `${JSON.stringify({ custom_id: customId, method: 'POST', url: MESSAGES_ENDPOINT, body: params })}\n`
}
