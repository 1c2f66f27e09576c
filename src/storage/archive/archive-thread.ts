import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { connectDatabase } from '../connection/connect-database.ts'
import { messageOf } from '../storage-error.ts'
import { archiveDue } from './archive-due.ts'
import { openArchiveStore, type ArchivePlace } from './archive-store.ts'

export interface ArchiveOrder {
  readonly connectionString: string
  readonly place: ArchivePlace
}

export type ArchiveMessage =
  | { readonly kind: 'archived'; readonly table: string; readonly month: string; readonly rows: number }
  | { readonly kind: 'put_off' | 'failed'; readonly reason: string }

/** A month is added up in one statement. */
const STATEMENT_MS_MAX = 3_600_000
/** Rests as long as it worked, so that it takes half of a core at most. */
const REST_MS_MAX = 1_000

/** The thread that writes archives. Encoding rows takes too long between the requests of the process. */
async function run({ connectionString, place }: ArchiveOrder): Promise<void> {
  const database = connectDatabase({ connectionString, poolSize: 2, statementTimeoutMs: STATEMENT_MS_MAX })
  const store = openArchiveStore(place)
  try {
    await archiveDue({
      database,
      store,
      rest: (workedMs) => delay(Math.min(workedMs, REST_MS_MAX)),
      onArchived: (archived) => post({ kind: 'archived', ...archived }),
      onPutOff: (reason) => post({ kind: 'put_off', reason }),
    })
  } catch (error) {
    post({ kind: 'failed', reason: messageOf(error) })
  } finally {
    await store.close()
    await database.close()
  }
}

function post(message: ArchiveMessage): void {
  parentPort?.postMessage(message, [])
}

await run(workerData as ArchiveOrder)
