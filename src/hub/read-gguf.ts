import { ThreadPool } from '../kernel/thread-pool.ts'
import type { ModelWeights } from './estimate-memory.ts'
import type { GgufBeginning, GgufHeader } from './gguf-header.ts'
import { HubError } from './hub-error.ts'
import type { HubFiles } from './hub-files.ts'
import type { ModelShape } from './model-shape.ts'
import type { ModelFile } from './model-file.ts'

export interface GgufFacts {
  readonly architecture: string
  readonly hasChatTemplate: boolean
  readonly shape: ModelShape | null
  readonly weights: ModelWeights
}

/** Enough for most headers: a vocabulary of 150,000 tokens with its merges takes six million bytes. */
const FIRST_BYTES = 8_000_000
const BYTES_MAX = 24_000_000
const PARTS_MAX = 100
const TIME_MS_MAX = 30_000
const QUESTIONS_MAX = 16

const pool = new ThreadPool<GgufBeginning>({
  script: new URL('gguf-thread.ts', import.meta.url),
  threadsMax: 1,
  ownerQuestionsMax: QUESTIONS_MAX,
})

/** Reads only the headers of a model's files, with range requests. If there are several parts, the first has the metadata. */
export async function readGguf(
  files: Pick<HubFiles, 'readRange'>,
  parts: readonly ModelFile[],
): Promise<GgufFacts> {
  const [first, ...others] = parts
  if (first === undefined || parts.length > PARTS_MAX)
    throw new HubError('unreadable', `A GGUF model has at most ${PARTS_MAX} parts.`)
  const { architecture, hasChatTemplate, shape, parameters } = await readHeader(files, first)
  let sum = parameters
  for (const part of others) sum += (await readHeader(files, part)).parameters
  const bytes = parts.reduce((total, { sizeBytes }) => total + sizeBytes, 0)
  return { architecture, hasChatTemplate, shape, weights: { parameters: sum, bytes } }
}

async function readHeader(files: Pick<HubFiles, 'readRange'>, file: ModelFile): Promise<GgufHeader> {
  for (let size = FIRST_BYTES; ; size *= 2) {
    const wanted = Math.min(size, BYTES_MAX, file.sizeBytes)
    if (wanted === 0) throw unreadable(file)
    const bytes = await files.readRange(file.path, 0, wanted)
    const question = { bytes: new Uint8Array(bytes), fileBytes: file.sizeBytes }
    const answer = await pool.ask(question, { owner: 'hub', timeMsMax: TIME_MS_MAX })
    if (isHeader(answer)) return answer
    const isWhole = wanted === file.sizeBytes || wanted === BYTES_MAX
    if (answer !== 'too short' || isWhole) throw unreadable(file)
  }
}

/** The worker thread answers with a header, or with a string if it failed. */
function isHeader(answer: unknown): answer is GgufHeader {
  return typeof answer === 'object' && answer !== null
}

function unreadable({ path }: ModelFile): HubError {
  return new HubError('unreadable', `The file ${path} is no GGUF file that can be read.`)
}
