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
export interface AnsweredLine<Answer> {
  readonly customId: string
  /** What it asked. */
  readonly body: unknown
  readonly answer: Answer
}

export interface AnsweredOrder<Answer> {
  readonly countMax: number
  /** Keeps what is wanted of the body of an answer. Null: the line is left out. */
  readonly pick: (body: unknown) => Answer | null
  readonly cancellation: Cancellation
}

/** Returns the first lines with an answer, in the order of the file. Throws `conflict` unless the batch has ended with answers. */
export async function readAnswered<Answer>(
  files: Pick<Files, 'read' | 'open'>,
  { place, batch }: { readonly place: Place; readonly batch: Batch },
  order: AnsweredOrder<Answer>,
): Promise<AnsweredLine<Answer>[]> {
  if (batch.outputFileId === null)
    throw new AppError('conflict', `The batch is ${batch.status} and has no answers.`)
  const answers = await pickAnswers(files, { place, batch }, order)
  const input = await files.read(place, batch.inputFileId).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
    throw new AppError('not_found', 'The input file of this batch was deleted, or has expired.')
  })
  const found: AnsweredLine<Answer>[] = []
  if (answers.size === 0) return found
  const source = await files.open(input)
  try {
    for await (const { number, content } of splitLines(source, LINE_BYTES_MAX)) {
      order.cancellation.throwIfCancelled()
      const answered = answers.get(lineIdOf(batch.id, number))
      if (answered === undefined || content === null) continue
      const line = await parseLine(content)
      found.push({ ...answered, body: isRecord(line) ? line['body'] : null })
      if (found.length === answers.size) break
    }
  } finally {
    source.destroy()
  }
  return found
}

type Picked<Answer> = Omit<AnsweredLine<Answer>, 'body'>

async function pickAnswers<Answer>(
  files: Pick<Files, 'read' | 'open'>,
  { place, batch }: { readonly place: Place; readonly batch: Batch },
  { countMax, pick, cancellation }: AnsweredOrder<Answer>,
): Promise<ReadonlyMap<string, Picked<Answer>>> {
  const picked = new Map<string, Picked<Answer>>()
  const results = await readResults(files, place, { outputFileId: batch.outputFileId, errorFileId: null })
  for await (const { lineId, customId, response } of results) {
    cancellation.throwIfCancelled()
    const answer = response === null ? null : pick(response.body)
    if (answer === null) continue
    picked.set(lineId, { customId, answer })
    if (picked.size >= countMax) break
  }
  return picked
}
