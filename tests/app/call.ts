import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

export interface Called {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
  readonly body: any
}

interface CallOptions {
  readonly key?: string | null
  readonly body?: unknown
}

/** Sends one request on a new connection, so that any of several processes may receive it. */
export function call(method: string, url: string, { key = null, body }: CallOptions = {}): Promise<Called> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const outgoing = request(url, { method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        const isJson = response.headers['content-type']?.includes('json') === true
        resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : text })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

/** Builds a chat request. Directives in the content control the sandbox. */
export function chatBody(content: string, isStream = false) {
  return { model: 'gpt-4o-mini', stream: isStream, messages: [{ role: 'user', content }] }
}

export interface OpenStream {
  /** The complete text; resolves when the stream has ended. */
  readonly text: Promise<string>
}

/** Resolves when the first event of the stream has arrived. */
export async function openStream(url: string, key: string, content: string): Promise<OpenStream> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(chatBody(content, true)),
  })
  if (response.body === null) throw new Error('no stream')
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const first = await reader.read()
  const readRest = async () => {
    let text = first.value ?? ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return text
      text += value
    }
  }
  const text = readRest()
  // Prevents an unhandled rejection; a caller that awaits the text still gets the error.
  text.catch(() => {})
  return { text }
}

const POLL_MS = 20

/** Repeats a check until it returns a value. Only the timeout of the test limits it. */
export async function until<Found>(
  ask: () => Promise<Found | null | undefined | false> | Found | null | undefined | false,
): Promise<Found> {
  for (;;) {
    const found = await ask()
    if (found !== null && found !== undefined && found !== false) return found
    await delay(POLL_MS)
  }
}

/** Returns the system error code if a connection is refused, null if it is accepted. */
export async function refusal(url: string): Promise<string | null> {
  return call('GET', `${url}/healthz`).then(
    () => null,
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown'),
  )
}
