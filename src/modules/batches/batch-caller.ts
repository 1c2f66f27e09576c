import { AppError } from '../../kernel/app-error.ts'
import { keepTrying } from '../../kernel/keep-trying.ts'
import { withLabels, type Caller, type Keys } from '../keys/keys.ts'
import type { Batch } from './batch.ts'

/** How long a key counts as read. */
const CALLER_MS = 1_000

/** The key that made a batch, as it is while the batch runs. */
export class BatchCaller {
  readonly #keys: Pick<Keys, 'callerOf'>
  readonly #batch: Batch
  readonly #isGivenUp: () => boolean
  #caller: Promise<Caller> | null = null
  #readAtMs = 0
  /** Whether answers were not stored any more when the key was last read. */
  isNotKept = false

  /** @param isGivenUp whether the database is no longer asked again */
  constructor(keys: Pick<Keys, 'callerOf'>, batch: Batch, isGivenUp: () => boolean) {
    this.#keys = keys
    this.#batch = batch
    this.#isGivenUp = isGivenUp
  }

  /** Reads the key again now and then, because it may have been revoked or suspended. Rejects with an `AppError` if it may ask nothing. */
  current(): Promise<Caller> {
    const nowMs = performance.now()
    if (this.#caller === null || nowMs - this.#readAtMs > CALLER_MS) {
      this.#caller = this.#read()
      this.#readAtMs = nowMs
    }
    return this.#caller
  }

  /** Whether answers are still stored. Those that would be dropped are not charged. */
  async mayKeepAnswers(): Promise<boolean> {
    await this.current().catch(asRefusal)
    return !this.isNotKept
  }

  async #read(): Promise<Caller> {
    const { accountId, keyId, labels } = this.#batch
    const read = () => this.#keys.callerOf(accountId, keyId).catch(asRefusal)
    const caller = await keepTrying(read, this.#isGivenUp)
    if (caller instanceof AppError) throw caller
    this.isNotKept = caller.isZeroRetention === true
    if (this.isNotKept) throw new AppError('conflict', ANSWERS_NOT_KEPT)
    if (caller.permissions.has('models.use')) return withLabels(caller, labels)
    throw new AppError('forbidden', 'The API key that asked for this may not ask models any more.')
  }
}

/** Answers that must not be stored would be charged for nothing. */
export const ANSWERS_NOT_KEPT =
  'Zero data retention was switched on while the batch ran, and its answers are not kept.'

/** Returns why a key is refused. Throws any other error. */
export function asRefusal(error: unknown): AppError {
  if (error instanceof AppError) return error
  throw error
}
