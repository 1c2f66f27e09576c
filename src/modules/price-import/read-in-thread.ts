import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { ThreadPool } from '../../kernel/thread-pool.ts'
import type { PriceList } from './price-list.ts'
import type { PriceListText, ReadPriceList } from './price-list-thread.ts'

const READ_MS_MAX = 30_000

const pool = new ThreadPool<PriceListText>({
  script: new URL('price-list-thread.ts', import.meta.url),
  threadsMax: 1,
  ownerQuestionsMax: 4,
})

/** Reads a price list beside the event loop. Throws `invalid_value` with what is wrong. */
export async function readInThread(file: PriceListText, owner: string): Promise<PriceList> {
  const read = await pool.ask(file, { owner, timeMsMax: READ_MS_MAX })
  if (!isRead(read))
    throw new AppError(
      'service_unavailable',
      'The price list could not be read in time. Try again shortly.',
      {
        retryAfterSeconds: 1,
      },
    )
  if ('problem' in read) throw invalidValue('text', read.problem)
  return read.list
}

function isRead(value: unknown): value is ReadPriceList {
  return isRecord(value) && ('list' in value || 'problem' in value)
}
