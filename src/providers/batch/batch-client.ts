import { Agent, FormData, request, type Dispatcher } from 'undici'
import { isRecord } from '../../kernel/is-record.ts'
import { parseJsonInTurns } from '../../kernel/json/parse-json-in-turns.ts'
import { createConnector } from '../connection/create-connector.ts'
import type { NetworkPath } from '../connection/network-path.ts'
import { readErrorObject } from '../failures/error-payload.ts'
import { parseRetryAfter } from '../failures/parse-retry-after.ts'
import { invalidAnswer, UpstreamError } from '../failures/upstream-error.ts'
import { describeTransportFailure } from '../openai-compatible/transport-failure.ts'
import type { BatchCall } from './batch-api.ts'
import { markKey } from './mark-key.ts'
import { readLines } from './read-lines.ts'

export interface BatchClientOptions {
  readonly provider: string
  readonly baseUrl: string
  readonly apiKeys: readonly string[]
  readonly keyHeader: 'authorization' | 'x-api-key' | 'x-goog-api-key' | 'api-key'
  /** Sent with every request, as alternating names and values. */
  readonly headers: readonly string[]
  readonly path?: NetworkPath | undefined
}

interface BatchRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Behind the address of the vendor, with the query. */
  readonly path: string
  readonly body?: string | FormData
  /** Of the answer. */
  readonly bytesMax?: number
}

const CONNECT_MS = 10_000
const ANSWER_MS = 120_000
const IDLE_MS = 60_000
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const ERROR_BYTES_MAX = 64 * 1024
/** Of one line of results. */
const LINE_BYTES_MAX = 16 * 1024 * 1024

/** Rare requests to the batch API of one vendor. Redirects are not followed. */
export class BatchClient {
  readonly provider: string
  readonly keyMark: string
  readonly #options: BatchClientOptions
  readonly #keys: ReadonlyMap<string, string>
  readonly #base: string
  #dispatcher: Agent | null = null

  constructor(options: BatchClientOptions) {
    const [first = ''] = options.apiKeys
    this.provider = options.provider
    this.keyMark = markKey(first)
    this.#options = options
    this.#keys = new Map(options.apiKeys.map((key) => [markKey(key), key]))
    this.#base = options.baseUrl.replace(/\/+$/, '')
  }

  /** Returns the parsed object of the answer. */
  async json(asked: BatchRequest, call: BatchCall): Promise<Record<string, unknown>> {
    const value = await this.value(asked, call)
    if (isRecord(value)) return value
    throw invalidAnswer(this.provider, 'it answered with something that is not a JSON object')
  }

  /** The same for an answer that may be a list. */
  async value(asked: BatchRequest, call: BatchCall): Promise<unknown> {
    const { body } = await this.#send(asked, call)
    try {
      const bytes = await readAll(body, asked.bytesMax ?? ANSWER_BYTES_MAX)
      if (bytes === null) throw invalidAnswer(this.provider, 'it answered with more than an answer can have')
      return (await parseJsonInTurns(bytes.toString('utf8'))).value
    } catch (error) {
      throw this.#explain(error, call, true)
    }
  }

  /** Reads the lines of a file. Null for one that is too long. */
  async *lines(path: string, call: BatchCall): AsyncGenerator<Buffer | null, void> {
    const { body } = await this.#send({ method: 'GET', path }, call)
    try {
      yield* readLines(body, LINE_BYTES_MAX)
    } catch (error) {
      throw this.#explain(error, call, true)
    } finally {
      body.destroy()
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher?.destroy()
  }

  async #send({ method, path, body = '' }: BatchRequest, call: BatchCall): Promise<Dispatcher.ResponseData> {
    const key =
      this.#keys.get(call.keyMark) ?? (call.needsOwnKey === true ? undefined : this.#options.apiKeys[0])
    if (key === undefined) throw keyGone(this.provider)
    const { keyHeader, headers } = this.#options
    this.#dispatcher ??= new Agent({ connect: createConnector(this.#options.path ?? {}, CONNECT_MS) })
    let answer: Dispatcher.ResponseData
    try {
      answer = await request(this.#base + path, {
        method,
        headers: [
          'user-agent',
          'parkway',
          ...(typeof body === 'string' && body !== '' ? ['content-type', 'application/json'] : []),
          keyHeader,
          keyHeader === 'authorization' ? `Bearer ${key}` : key,
          ...headers,
        ],
        body: body === '' ? null : body,
        dispatcher: this.#dispatcher,
        signal: call.signal,
        headersTimeout: ANSWER_MS,
        bodyTimeout: IDLE_MS,
      })
    } catch (error) {
      throw this.#explain(error, call, false)
    }
    // Readers get the error from their read. Without a listener, an error between reads would end the process.
    answer.body.on('error', () => {})
    if (answer.statusCode >= 200 && answer.statusCode < 300) return answer
    throw await this.#readRefusal(answer)
  }

  async #readRefusal({ statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<UpstreamError> {
    const { provider } = this
    const page = await readAll(body, ERROR_BYTES_MAX).catch(() => null)
    const said = readErrorObject(parseOrNull(page)) ?? {}
    const retryAfterSeconds = parseRetryAfter(headers['retry-after'])
    return new UpstreamError(`${provider} answered ${status} to a batch: ${said.upstreamMessage ?? ''}`, {
      failure: 'status',
      provider,
      status,
      ...said,
      ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
    })
  }

  #explain(error: unknown, { signal }: BatchCall, hasAnswered: boolean): unknown {
    if (signal.aborted) return signal.reason
    if (error instanceof UpstreamError) return error
    const cause = error instanceof Error ? error : new Error(String(error))
    if (cause instanceof SyntaxError)
      return invalidAnswer(this.provider, 'it sent something that is not JSON')
    return describeTransportFailure(this.provider, cause, hasAnswered)
  }
}

/** Returns null if there is more. */
async function readAll(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer | null> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > bytesMax) return null
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

function parseOrNull(page: Buffer | null): unknown {
  try {
    return page === null ? null : JSON.parse(page.toString('utf8'))
  } catch {
    return null
  }
}

function keyGone(provider: string): UpstreamError {
  return new UpstreamError(`${provider}: the key that made the batch is not configured any more`, {
    failure: 'status',
    provider,
    status: 401,
  })
}

const VENDOR_ID = /^[\w.-]{1,200}$/

/** Ids of vendors become parts of paths. Throws for one that is none. */
export function requireId(provider: string, id: unknown): string {
  if (typeof id === 'string' && VENDOR_ID.test(id) && !id.startsWith('.')) return id
  throw invalidAnswer(provider, 'it named a batch or a file by something that is no id')
}

/** A batch that is not in a list may be made again, so that nothing else counts as an empty list. */
export function requireList(provider: string, data: unknown): readonly unknown[] {
  if (Array.isArray(data)) return data
  throw invalidAnswer(provider, 'it answered with something that is no list of batches')
}

/** The upload of a file. */
export function formOf(
  fields: Readonly<Record<string, string>>,
  { lines, filename }: { readonly lines: readonly string[]; readonly filename: string },
): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append('file', new Blob(lines.map((line) => `${line}\n`)), filename)
  return form
}
