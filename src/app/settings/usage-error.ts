/** A command line that cannot be understood, in one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
