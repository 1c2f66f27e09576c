/**
 * - `missing`: not found, or a private model that this token cannot see.
 * - `gated`: a token is required, or the given one has no access.
 * - `unavailable`: the hub cannot be reached, limits requests or fails. A retry may succeed.
 * - `unreadable`: the answer or the files are not valid, or not supported.
 * - `corrupt`: the checksum of a download differs from the one that the hub announced.
 * - `too_large`: larger than the limit of the cache.
 * - `no_space`: no room in the cache or on the disk now.
 */
export type HubFailure =
  | 'missing'
  | 'gated'
  | 'unavailable'
  | 'unreadable'
  | 'corrupt'
  | 'too_large'
  | 'no_space'

/** A failure to read a model. The message can be shown to the client. */
export class HubError extends Error {
  override readonly name = 'HubError'
  readonly failure: HubFailure

  constructor(failure: HubFailure, message: string, options?: { cause: unknown }) {
    super(message, options)
    this.failure = failure
  }
}
