import { expect } from 'vitest'
import { AppError } from '../../../kernel/app-error.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { Hold, Ledger, Payer } from '../ledger.ts'
import { sweepOnce } from '../books/sweep-ledger.ts'
import { LedgerModel } from './ledger-model.ts'
import type { LedgerProcess, LedgerStage } from './ledger-stage.ts'

/** Two processes on one database, on which one history after another is run. */
export interface HistoryLane {
  readonly stage: LedgerStage
  readonly processes: [LedgerProcess, LedgerProcess]
  createProcess(): Promise<LedgerProcess>
  /** Borrowers that were declared dead and may not have noticed. */
  readonly dead: Set<string>
}

interface OpenHold {
  readonly process: LedgerProcess
  readonly borrowerId: string
  readonly hold: Hold
}

interface LongWork {
  readonly amountNanoUsd: NanoUsd
  status: 'open' | 'settled' | 'released'
  chargedNanoUsd: NanoUsd
}

/** The account of a history, and its model. */
export class HistoryRun {
  readonly model: LedgerModel
  readonly lane: HistoryLane
  readonly payer: Payer
  readonly longWork = new Map<string, LongWork>()
  /** Granted with an expiry. */
  expiringNanoUsd = 0n
  /** Whether held credit has expired; the model does not follow whose part that is. */
  isBlurred = false
  #holds: OpenHold[] = []
  #writtenOffNanoUsd = 0n

  constructor(lane: HistoryLane, payer: Payer) {
    this.lane = lane
    this.payer = payer
    this.model = new LedgerModel(payer.limitNanoUsd)
  }

  /** Of the first process: which one does it makes no difference to what is durable. */
  get ledger(): Ledger {
    return this.lane.processes[0].ledger
  }

  get holds(): readonly OpenHold[] {
    return this.#holds
  }

  process(index: number): LedgerProcess {
    return index === 0 ? this.lane.processes[0] : this.lane.processes[1]
  }

  order(name: string, amountNanoUsd: NanoUsd) {
    const { accountId } = this.payer
    return { key: `${name}:${accountId}`, accountId, amountNanoUsd, reason: 'history' }
  }

  durably<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result> {
    return this.lane.stage.database.transaction(work)
  }

  recall(): Promise<void> {
    return this.ledger.recall(this.payer.accountId)
  }

  addHold(open: OpenHold): void {
    this.#holds.push(open)
  }

  takeHold(which: number): OpenHold | undefined {
    const [open] = this.#holds.splice(which % Math.max(1, this.#holds.length), 1)
    return open
  }

  /** Whether the leases of the hold were taken back. */
  isLost({ borrowerId }: OpenHold): boolean {
    return this.lane.dead.has(borrowerId)
  }

  releaseAll(isMeant: (open: OpenHold) => boolean): void {
    for (const open of this.#holds.filter(isMeant)) this.release(open)
    this.#holds = this.#holds.filter((open) => !isMeant(open))
  }

  release(open: OpenHold): void {
    open.hold.release()
    if (!this.isLost(open)) this.model.heldNanoUsd -= open.hold.amountNanoUsd
  }

  async writeOffExpired(): Promise<void> {
    await sweepOnce(this.lane.stage.database)
    const [row] = await this.lane.stage.database.query<{ amount: bigint }>(
      `SELECT coalesce(-sum(amount_nano_usd), 0)::bigint AS amount FROM ledger_entries
       WHERE account_id = $1 AND kind = 'expire' AND book = 'credit'`,
      [this.payer.accountId],
    )
    const writtenOff = row?.amount ?? 0n
    expect(writtenOff).toBeLessThanOrEqual(this.expiringNanoUsd)
    this.model.balanceNanoUsd -= writtenOff - this.#writtenOffNanoUsd
    this.#writtenOffNanoUsd = writtenOff
  }
}

/** The code of an expected error; any other error is a defect. */
export function codeOfRefusal(error: unknown): string {
  if (error instanceof AppError) return error.code
  throw error
}
