interface RecordedExchange {
  readonly method: string
  readonly url: string
  /** Parsed JSON, or null for a request without a body. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into what a client sent and fail loudly on a wrong shape
  readonly body: any
  readonly sentMs: number
  readonly status: number
  readonly headers: Headers
}

export interface RecordingFetch {
  readonly fetch: typeof fetch
  /** Requests with their answers, oldest first. Requests without an answer are not included. */
  readonly exchanges: RecordedExchange[]
  statuses(): number[]
}

/** Wraps the global fetch and records what a client sends. Every client in these tests accepts a custom fetch. */
export function createRecordingFetch(): RecordingFetch {
  const exchanges: RecordedExchange[] = []
  return {
    exchanges,
    statuses: () => exchanges.map(({ status }) => status),
    fetch: async (input, init) => {
      const sentMs = performance.now()
      const response = await fetch(input, init)
      exchanges.push({
        method: init?.method ?? 'GET',
        url: input instanceof Request ? input.url : String(input),
        body: typeof init?.body === 'string' ? JSON.parse(init.body) : null,
        sentMs,
        status: response.status,
        headers: response.headers,
      })
      return response
    },
  }
}
