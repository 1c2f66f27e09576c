import type { Logger } from '../../../kernel/logger.ts'
import type { Database } from '../../../storage/database.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import type { BatchClaim } from '../batch.ts'
import type { FindBatchApi } from './handing.ts'
import { countLinesOfPart, findKnownParts, readVendorId, type PartRow } from './part-rows.ts'
import { nameOfPart, type PartVendor } from './part-vendor.ts'

interface TwinOptions {
  readonly database: Database
  readonly claim: BatchClaim
  readonly findBatchApi: FindBatchApi
  readonly logger: Logger
}

const LOOKS_MAX = 20
const ABANDON_MS_MAX = 10_000

/**
 * Other batches at the vendor with the lines of one part: of a submission that arrived after it was given up, or of a worker that was stopped
 * right before it sent the part, and went on after another one had taken it over.
 */
export class PartTwins {
  readonly #row: PartRow
  readonly #options: TwinOptions
  readonly #vendor: PartVendor
  /** The vendor's ids of all that are known. */
  readonly #known = new Set<string>()
  #looks = 0

  constructor(row: PartRow, options: TwinOptions, vendor: PartVendor) {
    this.#row = row
    this.#options = options
    this.#vendor = vendor
  }

  /** From now on there may be one. */
  begin(): void {
    this.#looks = LOOKS_MAX
  }

  /** Cancels one, if there is any that shows its name. */
  async cancelOne(followedId: string | null): Promise<void> {
    const { database, claim } = this.#options
    const { id, provider, createdAtMs } = this.#row
    if (followedId === null || this.#looks === 0) return
    this.#looks -= 1
    this.#known.add(followedId)
    const lineCount = await countLinesOfPart(database, claim.batchId, id)
    const findKnown = (ids: readonly string[]) => findKnownParts(database, provider, ids)
    const name = nameOfPart(this.#row)
    const sought = { name, lineCount, sentAtMs: createdAtMs, findKnown, except: this.#known }
    await this.#vendor.ask(async (api, call) => {
      const found = api.isNamed ? await api.find(sought, { ...call, needsOwnKey: true }) : null
      if (typeof found !== 'string') return
      await api.cancel(found, call)
      this.#known.add(found)
    })
  }

  /** The claim was lost while the vendor made this batch. It is cancelled if another one of the part is followed. */
  async abandon(vendorId: string): Promise<void> {
    const { database, findBatchApi, logger } = this.#options
    const { id, provider, keyMark } = this.#row
    try {
      const followedId = await readVendorId(database, id)
      // Null: whoever has the part now finds this batch by its name.
      if (followedId === null || followedId === vendorId) return
      const signal = AbortSignal.timeout(ABANDON_MS_MAX)
      await findBatchApi(provider)?.cancel(vendorId, { keyMark, signal })
    } catch (error) {
      logger.warn(
        { reason: messageOf(error), provider },
        'a batch that was made twice could not be cancelled',
      )
    }
  }
}
