import { AppError } from '../../kernel/app-error.ts'
import { ThreadPool } from '../../kernel/thread-pool.ts'
import type { PrintedDocument } from './printed-document.ts'

/** Usually a tenth of a second. */
const PRINT_MS_MAX = 30_000

/** The first document starts the thread, which alone loads the library. */
const pool = new ThreadPool<PrintedDocument>({
  script: new URL('print-thread.ts', import.meta.url),
  threadsMax: 1,
  ownerQuestionsMax: 8,
})

/** Prints a document as PDF, with fair turns between accounts. */
export async function printInThread(document: PrintedDocument, accountId: string): Promise<Buffer> {
  const bytes = await pool.ask(document, { owner: accountId, timeMsMax: PRINT_MS_MAX })
  if (bytes instanceof Uint8Array) return Buffer.from(bytes)
  const message = 'The document could not be printed in time. Try again shortly.'
  throw new AppError('service_unavailable', message, { retryAfterSeconds: 1 })
}
