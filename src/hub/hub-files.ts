import { setTimeout as wait } from 'node:timers/promises'
import type { Cancellation } from '../kernel/cancellation.ts'
import { parseJson } from '../kernel/parse-json.ts'
import { OutboundFailed, OutboundRefused, type Outbound } from '../outbound/outbound.ts'
import { HubError } from './hub-error.ts'

/** One model on the hub, at one revision, for whoever has this token. */
export interface HubAddress {
  readonly endpoint: string
  readonly modelId: string
  readonly revision: string
  /** Sent to the hub itself and to nobody it redirects to. */
  readonly token: string | null
  readonly cancellation?: Cancellation | undefined
}

const TIMEOUT_MS = 15_000
const REDIRECTS_MAX = 3
const JSON_BYTES_MAX = 16 * 1024 * 1024
const ATTEMPTS_MAX = 3
const PAUSE_MS = 300

/** Files and facts of models, read in bounded pieces over the outbound rules. */
export class HubFiles {
  readonly #outbound: Pick<Outbound, 'fetch'>
  readonly #address: HubAddress

  constructor(outbound: Pick<Outbound, 'fetch'>, address: HubAddress) {
    this.#outbound = outbound
    this.#address = address
  }

  /** What the hub says of the model. */
  async readInfo(): Promise<unknown> {
    const { endpoint, revision } = this.#address
    const url = `${endpoint}/api/models/${this.#path()}/revision/${encodeURIComponent(revision)}`
    return readJson(await this.#read(url, JSON_BYTES_MAX))
  }

  async readJson(file: string): Promise<unknown> {
    return readJson(await this.#read(this.#urlOf(file), JSON_BYTES_MAX))
  }

  /** Bytes of a file from one place up to another, less where the file ends before. */
  async readRange(file: string, fromByte: number, toByte: number): Promise<Buffer> {
    const bytesMax = toByte - fromByte
    const range = `bytes=${fromByte}-${toByte - 1}`
    return this.#read(this.#urlOf(file), bytesMax, range)
  }

  #path(): string {
    return this.#address.modelId.split('/').map(encodeURIComponent).join('/')
  }

  #urlOf(file: string): string {
    const { endpoint, revision } = this.#address
    const path = file.split('/').map(encodeURIComponent).join('/')
    return `${endpoint}/${this.#path()}/resolve/${encodeURIComponent(revision)}/${path}`
  }

  async #read(url: string, bytesMax: number, range?: string): Promise<Buffer> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#readOnce(url, bytesMax, range)
      if (Buffer.isBuffer(answer)) return answer
      const isWorthAnother = answer.failure === 'unavailable' && attempt < ATTEMPTS_MAX
      if (!isWorthAnother) throw answer
      await wait(PAUSE_MS * 2 ** (attempt - 1))
    }
  }

  async #readOnce(url: string, bytesMax: number, range?: string): Promise<Buffer | HubError> {
    const { token, endpoint, cancellation } = this.#address
    try {
      const response = await this.#outbound.fetch({
        url,
        headers: token === null ? {} : { authorization: `Bearer ${token}` },
        sharedHeaders: range === undefined ? {} : { range },
        // A server that knows no ranges sends the whole file: nobody wants to read that.
        bytesMax,
        timeoutMs: TIMEOUT_MS,
        redirectsMax: REDIRECTS_MAX,
        trustedHosts: [new URL(endpoint).host],
        ...(cancellation === undefined ? {} : { cancellation }),
      })
      if (response.status !== (range === undefined ? 200 : 206)) {
        response.discard()
        return failureOf(response.status)
      }
      const pieces: Uint8Array[] = []
      for await (const piece of response.body) pieces.push(piece)
      return Buffer.concat(pieces)
    } catch (error) {
      if (error instanceof OutboundFailed && error.reason !== 'too_large')
        return new HubError('unavailable', 'The hub could not be reached.', { cause: error })
      if (error instanceof OutboundFailed || error instanceof OutboundRefused)
        return new HubError('unreadable', 'The hub answered with something that cannot be read.', {
          cause: error,
        })
      throw error
    }
  }
}

function failureOf(status: number): HubError {
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
