import { setTimeout as wait } from 'node:timers/promises'
import type { Cancellation } from '../kernel/cancellation.ts'
import { parseJson } from '../kernel/json/parse-json.ts'
import { OutboundFailed, OutboundRefused, type Outbound } from '../outbound/outbound.ts'
import { isRecord } from '../kernel/is-record.ts'
import { HubError, type HubFailure } from './hub-error.ts'
import { isFilePath } from './hub-id.ts'
import type { ModelFile } from './model-file.ts'

/** One model on the hub, at one revision, read with one token. */
export interface HubAddress {
  readonly endpoint: string
  readonly modelId: string
  readonly revision: string
  /** Sent to the hub only, never to redirect targets. */
  readonly token: string | null
  readonly cancellation?: Cancellation | undefined
}

const TIMEOUT_MS = 15_000
const REDIRECTS_MAX = 3
const JSON_BYTES_MAX = 16 * 1024 * 1024
const ATTEMPTS_MAX = 3
const PAUSE_MS = 300
/** If a retry would have to wait longer, the request fails instead. */
const PAUSE_MS_MAX = 5_000
const FILES_MAX = 10_000
/** Stops reading if the hub always returns a next page. */
const REQUESTS_MAX = 1_000

/** Reads metadata and files of one model through the outbound rules. Every response is limited in size. */
export class HubFiles {
  readonly #outbound: Pick<Outbound, 'fetch'>
  readonly #address: HubAddress
  #requests = 0

  constructor(outbound: Pick<Outbound, 'fetch'>, address: HubAddress) {
    this.#outbound = outbound
    this.#address = address
  }

  /** Returns the hub's metadata of the model. */
  async readInfo(): Promise<unknown> {
    const { modelInfo } = await import('@huggingface/hub')
    const { endpoint, modelId, revision } = this.#address
    return this.#understand(() =>
      modelInfo({
        name: modelId,
        revision,
        hubUrl: endpoint,
        fetch: this.#fetch,
        additionalFields: ['sha', 'cardData', 'tags'],
      }),
    )
  }

  /** Returns the files of the model with their sizes and checksums. */
  async listFiles(): Promise<ModelFile[]> {
    const { listFiles } = await import('@huggingface/hub')
    const { endpoint, modelId, revision } = this.#address
    const repo = { type: 'model', name: modelId } as const
    const entries = listFiles({ repo, revision, recursive: true, hubUrl: endpoint, fetch: this.#fetch })
    return this.#understand(async () => {
      const files: ModelFile[] = []
      for await (const entry of entries) {
        const file = readFile(entry)
        if (file !== null) files.push(file)
        if (files.length > FILES_MAX) throw new HubError('unreadable', 'The model has too many files.')
      }
      return files
    })
  }

  /** Converts the library's errors about unexpected answers into a `HubError`. */
  async #understand<Result>(read: () => Promise<Result>): Promise<Result> {
    try {
      return await read()
    } catch (error) {
      this.#address.cancellation?.throwIfCancelled()
      if (error instanceof HubError) throw error
      throw new HubError('unreadable', 'The hub answered with something that cannot be read.', {
        cause: error,
      })
    }
  }

  /**
   * The `fetch` given to libraries that read from the hub. It applies the limits of this class. The libraries
   * get no token: this function sends it, and only to the hub. Throws instead of returning an error status.
   */
  readonly #fetch: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (url.origin !== new URL(this.#address.endpoint).origin)
      throw new HubError('unreadable', 'The hub names an address that is not its own.')
    const range = new Headers(init?.headers).get('range')
    const { bytes, header } = await this.#answer(url.href, JSON_BYTES_MAX, range ?? undefined)
    const headers = new Headers({ 'content-type': 'application/json' })
    for (const name of ['link', 'content-range']) {
      const value = header(name)
      if (value !== null) headers.set(name, value)
    }
    return new Response(new Uint8Array(bytes), { status: range === null ? 200 : 206, headers })
  }

  async readJson(file: string): Promise<unknown> {
    return readJson(await this.#read(this.#urlOf(file), JSON_BYTES_MAX))
  }

  /** Reads bytes of a file from `fromByte` up to `toByte` (exclusive), or fewer if the file ends before. */
  async readRange(file: string, fromByte: number, toByte: number): Promise<Buffer> {
    const bytesMax = toByte - fromByte
    const range = `bytes=${fromByte}-${toByte - 1}`
    return this.#read(this.#urlOf(file), bytesMax, range)
  }

  #urlOf(file: string): string {
    return fileUrl(this.#address.endpoint, this.#address, file)
  }

  async #read(url: string, bytesMax: number, range?: string): Promise<Buffer> {
    return (await this.#answer(url, bytesMax, range)).bytes
  }

  async #answer(url: string, bytesMax: number, range?: string): Promise<HubAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      this.#requests += 1
      if (this.#requests > REQUESTS_MAX)
        throw new HubError('unreadable', 'The model has too many parts to read.')
      const answer = await this.#readOnce(url, bytesMax, range)
      if (!('error' in answer)) return answer
      const isWorthAnother = answer.error.failure === 'unavailable' && attempt < ATTEMPTS_MAX
      const pauseMs = answer.retryAfterMs ?? PAUSE_MS * 2 ** (attempt - 1)
      if (!isWorthAnother || pauseMs > PAUSE_MS_MAX) throw answer.error
      await wait(pauseMs)
      this.#address.cancellation?.throwIfCancelled()
    }
  }

  async #readOnce(url: string, bytesMax: number, range?: string): Promise<HubAnswer | HubRefusal> {
    const { token, endpoint, cancellation } = this.#address
    try {
      const response = await this.#outbound.fetch({
        url,
        headers: token === null ? {} : { authorization: `Bearer ${token}` },
        keepsHeadersOnOrigin: true,
        sharedHeaders: range === undefined ? {} : { range },
        // Also stops a server that ignores ranges and sends the whole file.
        bytesMax,
        timeoutMs: TIMEOUT_MS,
        redirectsMax: REDIRECTS_MAX,
        trustedHosts: [new URL(endpoint).host],
        ...(cancellation === undefined ? {} : { cancellation }),
      })
      if (response.status !== (range === undefined ? 200 : 206)) {
        response.discard()
        return {
          error: failureOf(response.status),
          retryAfterMs: retryAfterMs(response.header('retry-after')),
        }
      }
      const pieces: Uint8Array[] = []
      for await (const piece of response.body) pieces.push(piece)
      return { bytes: Buffer.concat(pieces), header: response.header }
    } catch (error) {
      if (error instanceof OutboundFailed && error.reason !== 'too_large')
        return refusal('unavailable', 'The hub could not be reached.', error)
      if (error instanceof OutboundFailed || error instanceof OutboundRefused)
        return refusal('unreadable', 'The hub answered with something that cannot be read.', error)
      throw error
    }
  }
}

interface HubAnswer {
  readonly bytes: Buffer
  readonly header: (name: string) => string | null
}

interface HubRefusal {
  readonly error: HubError
  /** Null if the hub does not name a time. */
  readonly retryAfterMs: number | null
}

function refusal(failure: HubFailure, message: string, cause: unknown): HubRefusal {
  return { error: new HubError(failure, message, { cause }), retryAfterMs: null }
}

/** Returns null for an entry that is not a file. Throws for a file with an unsafe name, or without size or checksum. */
function readFile(entry: unknown): ModelFile | null {
  if (!isRecord(entry) || entry['type'] !== 'file') return null
  const { path, size, oid, lfs } = entry
  if (typeof path !== 'string' || !isFilePath(path))
    throw new HubError('unreadable', 'The model has a file with an unsafe name.')
  const isLarge = isRecord(lfs)
  const sizeBytes = isLarge ? lfs['size'] : size
  const hex = isLarge ? lfs['oid'] : oid
  if (typeof sizeBytes !== 'number' || !Number.isSafeInteger(sizeBytes) || typeof hex !== 'string')
    throw new HubError('unreadable', 'The hub does not say how large a file is, or its checksum.')
  return { path, sizeBytes, checksum: { kind: isLarge ? 'sha256' : 'git', hex: hex.toLowerCase() } }
}

/** Returns the URL of a file. */
export function fileUrl(
  endpoint: string,
  { modelId, revision }: Pick<HubAddress, 'modelId' | 'revision'>,
  file: string,
): string {
  return `${endpoint}/${encodePath(modelId)}/resolve/${encodeURIComponent(revision)}/${encodePath(file)}`
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

/** Returns the `retry-after` time; null without the header, or if it is not a number of seconds. */
export function retryAfterMs(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : null
}

export function failureOf(status: number): HubError {
  if (status === 404) return new HubError('missing', 'There is no such file or model on the hub.')
  if (status === 401 || status === 403)
    return new HubError('gated', 'The hub asks for a token of an account that may read this model.')
  if (status === 429 || status >= 500) return new HubError('unavailable', 'The hub does not answer now.')
  return new HubError('unreadable', `The hub answered with the status ${status}.`)
}

function readJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString('utf8'))
  } catch (error) {
    throw new HubError('unreadable', 'The hub answered with something that is not JSON.', { cause: error })
  }
}
