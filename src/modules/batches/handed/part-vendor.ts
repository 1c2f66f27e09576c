import type { Logger } from '../../../kernel/logger.ts'
import type { BatchApi, BatchCall } from '../../../providers/batch/batch-api.ts'
import { UpstreamError } from '../../../providers/failures/upstream-error.ts'
import type { FindBatchApi } from './handing.ts'
import type { PartRow } from './part-rows.ts'

interface VendorOptions {
  readonly findBatchApi: FindBatchApi
  readonly logger: Logger
}

/** The vendor of one part, which may fail at any time. */
export class PartVendor {
  readonly #row: PartRow
  readonly #options: VendorOptions
  readonly #stop: AbortSignal

  constructor(row: PartRow, options: VendorOptions, stop: AbortSignal) {
    this.#row = row
    this.#options = options
    this.#stop = stop
  }

  get call(): BatchCall {
    return { keyMark: this.#row.keyMark, signal: this.#stop }
  }

  /** Undefined if the vendor cannot be asked now. */
  async ask<Answer>(ask: (api: BatchApi, call: BatchCall) => Promise<Answer>): Promise<Answer | undefined> {
    const { findBatchApi, logger } = this.#options
    const { provider } = this.#row
    const api = findBatchApi(provider)
    if (api === null) return undefined
    try {
      return await ask(api, this.call)
    } catch (error) {
      if (!(error instanceof UpstreamError) || this.#stop.aborted) throw error
      logger.warn({ reason: error.message, provider }, 'a vendor could not be asked for a batch')
      return undefined
    }
  }
}

/** In ids of lines, and where a vendor has a place for a name of ours. */
export function nameOfPart({ id }: Pick<PartRow, 'id'>): string {
  return id.replaceAll('-', '')
}
