/** An error that is sent to the client of the engine, with the fields of OpenAI's errors. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly status: number
  readonly code: string | null
  readonly param: string | null

  constructor(status: number, message: string, details: { code?: string; param?: string } = {}) {
    super(message)
    this.status = status
    this.code = details.code ?? null
    this.param = details.param ?? null
  }
}

export function invalidRequest(param: string, message: string): EngineError {
  return new EngineError(400, message, { param })
}

export function toErrorBody({ status, message, code, param }: EngineError): object {
  return { error: { message, type: status < 500 ? 'invalid_request_error' : 'server_error', param, code } }
}
