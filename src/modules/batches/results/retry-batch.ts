import { AppError } from '../../../kernel/app-error.ts'
import type { Files } from '../../files/files.ts'
import type { Caller } from '../../keys/keys.ts'
import type { Batch } from '../batch.ts'
import { LINE_BYTES_MAX } from '../lines/check-line.ts'
import { splitLines } from '../lines/split-lines.ts'
import { RESULT_LINE_BYTES_MAX } from './open-results.ts'
import { lineIdOf } from './write-results.ts'

type ReadFiles = Pick<Files, 'store' | 'read' | 'open' | 'delete'>

/** What the lines without an answer are called in a file, and how the file is found again by people. */
const KEPT_SECONDS = 30 * 86_400
const ID_AT = '{"id":"'.length

/** Stores the lines of an ended batch that have no answer as a file, and makes a batch of it. */
export async function retryBatch(
  files: ReadFiles,
  { caller, batch }: { readonly caller: Caller; readonly batch: Batch },
  create: (inputFileId: string) => Promise<Batch>,
): Promise<Batch> {
  requireEnded(batch)
  if (batch.errorFileId === null)
    throw new AppError('conflict', 'All lines of the batch have an answer, or none was asked.')
  const unanswered = await readLineIds(files, caller, batch.errorFileId).catch(
    explainMissing('The file with the errors'),
  )
  const input = await files.read(caller, batch.inputFileId).catch(explainMissing('The input file'))
  const source = await files.open(input)
  const storing = files.store({
    place: caller,
    keyId: caller.keyId,
    purpose: 'batch',
    filename: 'retried_lines.jsonl',
    source: pickLines(splitLines(source, LINE_BYTES_MAX), batch.id, unanswered),
    expiresAfterSeconds: KEPT_SECONDS,
  })
  // Without room, it is not read at all.
  const file = await storing.finally(() => source.destroy())
  try {
    return await create(file.id)
  } catch (error) {
    await files.delete(caller, file.id).catch(() => {})
    throw error
  }
}

function requireEnded({ status }: Batch): void {
  if (status === 'completed' || status === 'expired' || status === 'cancelled') return
  const why =
    status === 'failed' ? 'nothing of it was asked: mend its file' : 'it has not ended: wait for its end'
  throw new AppError('conflict', `The batch is ${status}, and ${why}.`)
}

/** The gateway wrote the file, so that each line begins with its id. */
async function readLineIds(files: ReadFiles, caller: Caller, fileId: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  const source = await files.open(await files.read(caller, fileId))
  for await (const { content } of splitLines(source, RESULT_LINE_BYTES_MAX))
    if (content !== null) ids.add(content.toString('latin1', ID_AT, content.indexOf('"', ID_AT)))
  return ids
}

async function* pickLines(
  lines: ReturnType<typeof splitLines>,
  batchId: string,
  wanted: ReadonlySet<string>,
): AsyncGenerator<Buffer, void> {
  for await (const { number, content } of lines)
    if (content !== null && wanted.has(lineIdOf(batchId, number))) yield Buffer.concat([content, LINE_END])
}

const LINE_END = Buffer.from('\n')

function explainMissing(what: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
    throw new AppError('not_found', `${what} of this batch was deleted, or has expired.`)
  }
}
