import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import { ThreadPool } from '../../../kernel/thread-pool.ts'
import { readDatasetFile } from './dataset-file.ts'
import type { DatasetText, ReadDataset } from './dataset-thread.ts'

/** Smaller files take a few milliseconds at most. */
const SMALL_LENGTH_MAX = 64 * 1024
const READ_MS_MAX = 30_000

const pool = new ThreadPool<DatasetText>({
  script: new URL('dataset-thread.ts', import.meta.url),
  threadsMax: 1,
  ownerQuestionsMax: 16,
})

/** Reads large files in a worker thread, with fair turns between accounts. */
export async function readDatasetInThread(file: DatasetText, accountId: string): Promise<readonly unknown[]> {
  if (file.text.length <= SMALL_LENGTH_MAX) return readDatasetFile(file.text, file.format)
  const read = await pool.ask(file, { owner: accountId, timeMsMax: READ_MS_MAX })
  if (!isRead(read)) {
    const message = 'The file could not be read in time. Try again shortly, or send a smaller one.'
    throw new AppError('service_unavailable', message, { retryAfterSeconds: 1 })
  }
  if ('problem' in read) throw invalidValue('file', read.problem)
  return read.prompts
}

function isRead(value: unknown): value is ReadDataset {
  return typeof value === 'object' && value !== null && ('prompts' in value || 'problem' in value)
}
