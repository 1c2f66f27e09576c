/** A failure of a request, in the same form for every cause. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** The HTTP status, or 0 if no answer came. */
  readonly status: number
  /** The code of the API, or `unreachable`. */
  readonly code: string
  readonly requestId: string | null
  /** The field that the message is about. */
  readonly param: string | null

  constructor(
    message: string,
    told: Partial<Pick<ApiError, 'status' | 'code' | 'requestId' | 'param'>> = {},
  ) {
    super(message)
    this.status = told.status ?? 0
    this.code = told.code ?? 'unreachable'
    this.requestId = told.requestId ?? null
    this.param = told.param ?? null
  }
}

/** Reads the error envelope of an answer. A proxy in between may answer with something else. */
export function toApiError(body: unknown, response: Response): ApiError {
  const requestId = response.headers.get('x-request-id')
  const error = memberOf(body, 'error')
  const message = memberOf(error, 'message')
  const code = memberOf(error, 'code')
  const param = memberOf(error, 'param')
  return new ApiError(
    typeof message === 'string' ? message : `The gateway answered with the status ${response.status}.`,
    {
      status: response.status,
      code: typeof code === 'string' ? code : `http_${response.status}`,
      requestId,
      param: typeof param === 'string' ? param : null,
    },
  )
}

/** Converts whatever was thrown. A request that got no answer throws a `TypeError`. */
export function describeFailure(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof TypeError && /fetch|network|load failed/i.test(error.message))
    return new ApiError('The gateway cannot be reached. Check that it runs and that you are online.')
  return new ApiError(error instanceof Error ? error.message : 'Something failed in this page.', {
    code: 'page_failed',
  })
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
