/** A body whose model cannot be replaced. The message is for the client. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused'
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}
