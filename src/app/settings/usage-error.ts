/** An invalid command line. The message is one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
