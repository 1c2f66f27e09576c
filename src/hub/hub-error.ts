/** `missing` may be a model that exists for others. `gated` needs a token, or another one. `unreadable` is what no model has. */
export type HubFailure = 'missing' | 'gated' | 'unavailable' | 'unreadable'

/** Why a model could not be read, in words for whoever asked. */
export class HubError extends Error {
  override readonly name = 'HubError'
  readonly failure: HubFailure

  constructor(failure: HubFailure, message: string, options?: { cause: unknown }) {
    super(message, options)
    this.failure = failure
  }
}
