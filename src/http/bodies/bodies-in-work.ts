import { AppError } from '../../kernel/app-error.ts'
import type { Exchange } from '../exchange.ts'

interface BodiesInWorkOptions {
  /** Memory for the bodies of all running requests of this process. */
  readonly bytesMax: number
}

/** Smaller bodies are not counted: the limits of connections and of concurrent requests bound them. */
const UNCOUNTED_BYTES_MAX = 16 * 1024
/** The bytes that were read, their text, the text for an upstream and its bytes. */
const COPIES = 4
/** An account may always have this much in work, if there is room. */
const ACCOUNT_BYTES_MIN = 8 * 1024 * 1024

/**
 * Limits the memory of the bodies of running requests, over all accounts and for each of them. An account may take at most half
 * of what the others leave, so that one account cannot use up the room of all others.
 */
export class BodiesInWork {
  readonly #bytesMax: number
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0

  constructor({ bytesMax }: BodiesInWorkOptions) {
    this.#bytesMax = bytesMax
  }

  /** Counts bytes of a body that is read. Throws if there is no room. They are given back when the exchange ends. */
  countRead(exchange: Exchange, bytes: number): void {
    if (bytes > UNCOUNTED_BYTES_MAX) this.count(exchange, bytes * COPIES)
  }

  /** Counts memory that an exchange takes until it ends. Throws if there is no room. */
  count(exchange: Exchange, memoryBytes: number): void {
    const accountId = exchange.caller?.accountId ?? exchange.admission?.accountId ?? null
    // Bodies without a key are small.
    if (accountId === null) return
    const own = this.#bytesOf.get(accountId) ?? 0
    const rest = this.#bytesMax - this.#bytes
    if (memoryBytes > rest) throw fullProcess()
    if (own + memoryBytes > Math.max((rest + own) / 2, ACCOUNT_BYTES_MIN)) throw fullAccount(own)
    this.#bytes += memoryBytes
    this.#bytesOf.set(accountId, own + memoryBytes)
    exchange.onEnd(() => this.#giveBack(accountId, memoryBytes))
  }

  #giveBack(accountId: string, memoryBytes: number): void {
    this.#bytes -= memoryBytes
    const left = (this.#bytesOf.get(accountId) ?? 0) - memoryBytes
    if (left > 0) this.#bytesOf.set(accountId, left)
    else this.#bytesOf.delete(accountId)
  }
}

const RETRY_SECONDS = 1

function fullProcess(): AppError {
  const message = 'The gateway works on as many large requests as its memory allows. Try again shortly.'
  return new AppError('service_unavailable', message, { retryAfterSeconds: RETRY_SECONDS })
}

function fullAccount(bytes: number): AppError {
  const taken = Math.round(bytes / (1024 * 1024))
  const message = `The bodies of this account's running requests take ${taken} MiB of memory, which is the account's share. Try again when some of them have ended.`
  return new AppError('rate_limit_exceeded', message, { retryAfterSeconds: RETRY_SECONDS })
}
