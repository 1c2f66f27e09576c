import type { TestGateway } from '../support/start-test-gateway.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into events and fail loudly on a wrong shape
export type LiveEvent = any

export interface LiveStream {
  readonly status: number
  /** The next event, an error, or null at the end of the stream. */
  next(): Promise<LiveEvent>
  readonly leave: () => void
}

/** Opens a stream of live figures, or another one. */
export async function followLive(
  gateway: Pick<TestGateway, 'fetch'>,
  request: { key?: string | null; headers?: Record<string, string> } = {},
  path = '/v1/admin/live',
): Promise<LiveStream> {
  const leaving = new AbortController()
  const response = await gateway.fetch('GET', path, { ...request, signal: leaving.signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const next = async (): Promise<LiveEvent> => {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end !== -1) {
        const frame = text.slice(0, end)
        text = text.slice(end + 2)
        if (frame === 'data: [DONE]') return null
        if (frame.startsWith('data: ')) return JSON.parse(frame.slice('data: '.length))
        continue
      }
      const chunk = await reader?.read()
      if (chunk === undefined || chunk.done) return null
      text += chunk.value
    }
  }
  return { status: response.status, next, leave: () => leaving.abort() }
}
