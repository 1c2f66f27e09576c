import { nextLoopTurn } from '../../kernel/turns/loop-turns.ts'
import type { Files } from '../files/files.ts'
import type { Caller } from '../keys/keys.ts'
import type { Batch } from './batch.ts'

/** A request of Anthropic's Message Batches. */
export interface MessageOrder {
  readonly custom_id: string
  readonly params: object
}

/** What each line asks. */
export const MESSAGES_ENDPOINT = '/v1/messages'
/** As long as Anthropic keeps results. */
const KEPT_SECONDS = 29 * 86_400
const PART_LENGTH_MAX = 256 * 1024

/** Stores the requests as a file of lines, and makes a batch of it. */
export async function createMessageBatch(
  files: Pick<Files, 'store' | 'delete'>,
  { caller, requests }: { readonly caller: Caller; readonly requests: readonly MessageOrder[] },
  create: (inputFileId: string, outputSeconds: number) => Promise<Batch>,
): Promise<Batch> {
  const file = await files.store({
    place: caller,
    keyId: caller.keyId,
    purpose: 'batch',
    filename: 'message_batch.jsonl',
    source: writeLines(requests),
    expiresAfterSeconds: KEPT_SECONDS,
  })
  try {
    return await create(file.id, KEPT_SECONDS)
  } catch (error) {
    await files.delete(caller, file.id).catch(() => {})
    throw error
  }
}

async function* writeLines(requests: readonly MessageOrder[]): AsyncGenerator<Buffer, void> {
  let part = ''
  for (const { custom_id, params: body } of requests) {
    part += `${JSON.stringify({ custom_id, method: 'POST', url: MESSAGES_ENDPOINT, body })}\n`
    if (part.length < PART_LENGTH_MAX) continue
    yield Buffer.from(part)
    part = ''
    // Writing a part may end at once, and others want their turn.
    await nextLoopTurn()
  }
  if (part !== '') yield Buffer.from(part)
}
