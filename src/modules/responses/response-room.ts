import type { Database } from '../../storage/database.ts'
import { noRoomLeft, readStoredBytes, type QuotaOf } from '../../storage/stored-bytes/stored-bytes.ts'

interface ResponseRoomOptions {
  readonly database: Database
  readonly quotaOf: QuotaOf
}

/** Bounds the memory. A forgotten account is marked as full again by its next response. */
const FULL_ACCOUNTS_MAX = 10_000

/**
 * Accounts that have used up their quota of stored responses, as this process learned from their last write. Other accounts are
 * not checked before an upstream is called, so concurrent responses can exceed the quota.
 */
export class ResponseRoom {
  readonly #options: ResponseRoomOptions
  readonly #full = new Set<string>()

  constructor(options: ResponseRoomOptions) {
    this.#options = options
  }

  async noteStored(accountId: string, storedBytes: number): Promise<void> {
    const bytesMax = await this.#options.quotaOf(accountId, 'response')
    if (bytesMax === null || storedBytes < bytesMax) return
    if (this.#full.size >= FULL_ACCOUNTS_MAX) this.#full.clear()
    this.#full.add(accountId)
  }

  /** Returns whether the account is not known to be full, without a query. */
  isOpen(accountId: string): boolean {
    return !this.#full.has(accountId)
  }

  /** Queries the database. Throws if the quota is used up. */
  async require(accountId: string): Promise<void> {
    const { database, quotaOf } = this.#options
    const bytesMax = await quotaOf(accountId, 'response')
    const usedBytes = bytesMax === null ? 0 : await readStoredBytes(database, accountId, 'response')
    if (bytesMax !== null && usedBytes >= bytesMax) throw noRoomLeft('response', { usedBytes, bytesMax })
    this.#full.delete(accountId)
  }
}
