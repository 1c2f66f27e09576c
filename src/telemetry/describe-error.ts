const CAUSES_MAX = 4

interface DescribedError {
  readonly type: string
  readonly message: string
  readonly stack: string
  readonly code?: string
  readonly cause?: unknown
}

/** Returns the loggable part of an error. Omits its other members, because drivers attach connections, with their secrets. */
export function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  const described: DescribedError = {
    type: error.name,
    message: error.message,
    stack: error.stack ?? '',
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    ...(error.cause !== undefined && depth < CAUSES_MAX
      ? { cause: describeError(error.cause, depth + 1) }
      : {}),
  }
  return described
}
