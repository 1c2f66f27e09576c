/** A response in the store. */
export interface StoredResponse {
  readonly accountId: string
  /** `resp_…` */
  readonly id: string
  /** The response that it continues. */
  readonly previousId: string | null
  /** JSON: the new input, a text or items. */
  readonly input: string
  /** JSON: the response object. */
  readonly response: string
  /** Ids of its output items. */
  readonly itemIds: readonly string[]
  readonly isBackground: boolean
}

/** Returns the size in UTF-8, as the database counts it. */
export function sizeOf({ input, response }: Pick<StoredResponse, 'input' | 'response'>): number {
  return Buffer.byteLength(input) + Buffer.byteLength(response)
}
