import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../../kernel/logger.ts'
import { messageOf } from '../../../storage/storage-error.ts'
import type { Charge } from '../books/usage-record.ts'
import type { PostingSchedule } from '../journal/posting-schedule.ts'
import type { Hold, HoldRequest, Payer, Settlement } from './memory-hold.ts'
import { isRefusal } from '../books/cap-reached.ts'

const NO_LABELS: readonly string[] = []

export interface ChargeAgainOptions {
  readonly posting: Pick<PostingSchedule, 'post'>
  readonly logger: Logger
  /** Makes all processes read the account's credit and caps again. */
  readonly announceChange: (accountId: string) => Promise<void>
}

const ATTEMPTS_MAX = 60
const PAUSE_MS = 1_000
/** Repeats charges for answers whose holds were taken back because this process was declared dead. */
export class ChargeAgain {
  readonly #options: ChargeAgainOptions
  readonly #hold: (payer: Payer, request: HoldRequest) => Promise<Hold>
  readonly #running = new Set<Promise<void>>()

  constructor(options: ChargeAgainOptions, hold: (payer: Payer, request: HoldRequest) => Promise<Hold>) {
    this.#options = options
    this.#hold = hold
  }

  charge(payer: Payer, settlement: Settlement): Promise<void> {
    const { costNanoUsd, isDelivered, record } = settlement
    const leastNanoUsd = isDelivered ? 0n : costNanoUsd
    const { model, labels = NO_LABELS, createdAtMs: atMs } = record
    const request = { wantedNanoUsd: costNanoUsd, leastNanoUsd, atMs, model, labels }
    const charged = this.#charge(payer, request, settlement)
    const ended = charged
      .catch((error: unknown) => {
        if (isDelivered)
          this.#options.logger.error({ err: error, record, costNanoUsd }, 'an answer is uncharged')
      })
      .finally(() => this.#running.delete(ended))
    this.#running.add(ended)
    return charged
  }

  /** Makes all processes read the debt of a charge once it is written. */
  noteDebt({ owedNanoUsd = 0n, record }: Charge, written: Promise<void>): Promise<void> {
    if (owedNanoUsd > 0n)
      written.then(
        () => this.#announce(record.accountId),
        () => {},
      )
    return written
  }

  /** Resolves when no charge is running. */
  async ended(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #charge(payer: Payer, request: HoldRequest, settlement: Settlement): Promise<void> {
    // A delivered answer is retried until the database is back.
    const attemptsMax = settlement.isDelivered ? ATTEMPTS_MAX : 1
    const { hold, isBeyondCap } = await this.#holdAnew(payer, request, attemptsMax)
    await hold.settle(settlement)
    if (isBeyondCap) await this.#announce(payer.accountId)
  }

  async #holdAnew(
    payer: Payer,
    request: HoldRequest,
    attemptsMax: number,
  ): Promise<{ hold: Hold; isBeyondCap: boolean }> {
    let isBeyondCap = false
    for (let attempt = 1; ; attempt += 1) {
      try {
        // First try the whole amount under the key's cap. A delivered answer is then charged beyond the cap.
        const hold = await (isBeyondCap
          ? this.#hold({ ...payer, limitNanoUsd: null }, request)
          : this.#hold(payer, { ...request, leastNanoUsd: request.wantedNanoUsd }))
        return { hold, isBeyondCap }
      } catch (error) {
        if (attempt >= attemptsMax) throw error
        if (!isBeyondCap && isRefusal(error)) isBeyondCap = true
        else await delay(PAUSE_MS)
      }
    }
  }

  /** Other processes may have borrowed more than a cap or a debt allows now. */
  async #announce(accountId: string): Promise<void> {
    const { posting, announceChange, logger } = this.#options
    try {
      await posting.post()
      await announceChange(accountId)
    } catch (error) {
      logger.warn(
        { reason: messageOf(error) },
        'a charge beyond a cap or the credit could not be told to all processes',
      )
    }
  }
}
