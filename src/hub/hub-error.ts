/**
 * `missing` may be a model that exists for others. `gated` needs a token, or another one. `unreadable` is what no model has.
 * `corrupt` bytes are not those that the hub announced. `too_large` is more than the cache may hold, and `no_space` more than it can
 * hold now.
 */
export type HubFailure =
  | 'missing'
  | 'gated'
  | 'unavailable'
  | 'unreadable'
  | 'corrupt'
  | 'too_large'
  | 'no_space'

/** Why a model could not be read, in words for whoever asked. */
export class HubError extends Error {
  override readonly name = 'HubError'
  readonly failure: HubFailure

  constructor(failure: HubFailure, message: string, options?: { cause: unknown }) {
    super(message, options)
    this.failure = failure
  }
}
