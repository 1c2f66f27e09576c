import { AppError } from '../../../kernel/app-error.ts'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type { Place } from '../../../storage/place.ts'
import type { Files } from '../../files/files.ts'
import type { Batch } from '../batch.ts'
import { LINE_BYTES_MAX, parseLine } from '../lines/check-line.ts'
import { splitLines } from '../lines/split-lines.ts'
import { readResults } from './read-results.ts'
import { lineIdOf } from './write-results.ts'

/** A line that has an answer. */
export interface AnsweredLine {
  readonly customId: string
  /** What it asked. */
  readonly body: unknown
  readonly answer: string
}

export interface AnsweredOrder {
  readonly countMax: number
  /** Of the answers, and of the lines. What is beyond is left out. */
  readonly bytesMax: number
  /** Returns what is wanted of the body of an answer. Null: the line is left out. */
  readonly pick: (body: unknown) => string | null
  readonly cancellation: Cancellation
}

interface AnsweredBatch {
  readonly place: Place
  readonly batch: Batch
}

/** A batch whose answers have no text is not read to its end. */
const RESULTS_READ_MAX = 5_000

/** Returns the first lines with an answer, in the order of the file. Throws `conflict` unless the batch has ended with answers. */
export async function readAnswered(
  files: Pick<Files, 'read' | 'open'>,
  { place, batch }: AnsweredBatch,
  order: AnsweredOrder,
): Promise<AnsweredLine[]> {
  if (batch.outputFileId === null)
    throw new AppError('conflict', `The batch is ${batch.status} and has no answers.`)
  const answers = await pickAnswers(files, { place, batch }, order)
  const input = await files.read(place, batch.inputFileId).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
    throw new AppError('not_found', 'The input file of this batch was deleted, or has expired.')
  })
  const found: AnsweredLine[] = []
  if (answers.size === 0) return found
  const source = await files.open(input)
  let bytesRead = 0
  try {
    for await (const { number, content, bytes } of splitLines(source, LINE_BYTES_MAX)) {
      order.cancellation.throwIfCancelled()
      const answered = answers.get(lineIdOf(batch.id, number))
      if (answered === undefined || content === null) continue
      bytesRead += bytes
      if (bytesRead > order.bytesMax) break
      const line = await parseLine(content)
      found.push({ ...answered, body: isRecord(line) ? line['body'] : null })
      if (found.length === answers.size) break
    }
  } finally {
    source.destroy()
  }
  return found
}

type Picked = Omit<AnsweredLine, 'body'>

async function pickAnswers(
  files: Pick<Files, 'read' | 'open'>,
  { place, batch }: AnsweredBatch,
  { countMax, bytesMax, pick, cancellation }: AnsweredOrder,
): Promise<ReadonlyMap<string, Picked>> {
  const picked = new Map<string, Picked>()
  const results = await readResults(files, place, { outputFileId: batch.outputFileId, errorFileId: null })
  let bytes = 0
  let read = 0
  for await (const { lineId, customId, response } of results) {
    cancellation.throwIfCancelled()
    read += 1
    const answer = response === null ? null : pick(response.body)
    bytes += answer === null ? 0 : Buffer.byteLength(answer)
    if (bytes > bytesMax) break
    if (answer !== null) picked.set(lineId, { customId, answer })
    if (picked.size >= countMax || read >= RESULTS_READ_MAX) break
  }
  return picked
}
