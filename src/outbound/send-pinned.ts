import { isIP, type LookupFunction } from 'node:net'
import { Client } from 'undici'

interface PinnedRequest {
  readonly url: URL
  /** The only addresses that are connected to. */
  readonly addresses: readonly string[]
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
  readonly signal: AbortSignal
}

export interface PinnedAnswer {
  readonly status: number
  readonly contentType: string | null
  readonly contentLength: number | null
  readonly location: string | null
  readonly header: (name: string) => string | null
  readonly body: AsyncIterable<Uint8Array>
  /** Closes the connection, even if data is outstanding. */
  discard(): void
}

const CONNECT_MS_MAX = 10_000
const HEADER_BYTES_MAX = 32 * 1024

/** Sends one request over its own connection. */
export async function sendPinned(request: PinnedRequest): Promise<PinnedAnswer> {
  const { url, method, body, signal } = request
  const client = new Client(url.origin, {
    pipelining: 0,
    allowH2: false,
    maxHeaderSize: HEADER_BYTES_MAX,
    // The caller has one timeout for everything, which aborts through the signal.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_MS_MAX, lookup: lookUpAmong(request.addresses) },
  })
  const discard = (): void => {
    client.destroy().catch(() => {})
  }
  try {
    const answer = await client.request({
      path: url.pathname + url.search,
      method,
      headers: { 'user-agent': 'parkway', accept: '*/*', ...request.headers },
      ...(body === null ? {} : { body }),
      signal,
    })
    // Ignore errors after the body was abandoned.
    answer.body.on('error', () => {})
    return {
      status: answer.statusCode,
      contentType: first(answer.headers['content-type']),
      contentLength: parseLength(first(answer.headers['content-length'])),
      location: first(answer.headers['location']),
      header: (name) => first(answer.headers[name]),
      body: answer.body,
      discard,
    }
  } catch (error) {
    discard()
    throw error
  }
}

function lookUpAmong(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (name, options, callback) => {
    const wanted = found.filter(({ family }) => !options.family || family === options.family)
    const [one] = wanted
    if (one === undefined) callback(new Error(`${name} has no address of this family`), '')
    else if (options.all === true) callback(null, wanted)
    else callback(null, one.address, one.family)
  }
}

function first(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null
}

function parseLength(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null
}
