import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Cap } from '../books/lend-credit.ts'
import type { PendingCharge } from '../journal/charge-batch.ts'
import type { BorrowedBalance, SpentPart } from './borrowed-balance.ts'
import type { UsageRecord } from '../books/usage-record.ts'

/** The account and key that pay, with their caps. */
export interface Payer {
  readonly accountId: string
  readonly keyId: string
  /** The key's own spend cap. */
  readonly limitNanoUsd: NanoUsd | null
  /** The parent key, whose cap applies too. */
  readonly parent?: { readonly keyId: string; readonly limitNanoUsd: NanoUsd | null } | null
  /** The project of the key; null or absent for `Default`. */
  readonly projectId?: string | null
  /** The owner of the key. */
  readonly userId?: string | null
  readonly serviceAccountId?: string | null
}

/** What budgets are found by, beside the payer and the time. */
export interface Charged {
  /** The id of the model, as it is recorded. */
  readonly model: string
  /** The tags of the request and the groups of its caller; mostly none. */
  readonly labels: readonly string[]
}

/** What budgets are found by, beside the payer and the time. */
export interface Charged {
  /** The id of the model, as it is recorded. */
  readonly model: string
  /** The tags of the request and the groups of its caller; mostly none. */
  readonly labels: readonly string[]
}

/** Holds the whole wanted amount or nothing. */
export interface AmpleHoldRequest extends Charged {
  /** The worst case of the request. */
  readonly wantedNanoUsd: NanoUsd
  /** Start of the request; decides the day and month it counts for. */
  readonly atMs?: number
}

export interface HoldRequest extends AmpleHoldRequest {
  /** Below this amount the request is refused; above it a part of the wanted amount is accepted. */
  readonly leastNanoUsd: NanoUsd
  /** False if the caller prefers a smaller hold now to waiting for running requests. */
  readonly isPatient?: boolean
  /** When the request first asked for credit, by `performance.now()`; now by default. */
  readonly sinceMs?: number
  readonly cancellation?: Cancellation
}

export interface Settlement {
  readonly costNanoUsd: NanoUsd
  /** Cost that the account could not pay; zero by default. */
  readonly uncoveredNanoUsd?: NanoUsd
  /** The part of that which the account owes from now on; zero by default. */
  readonly owedNanoUsd?: NanoUsd
  readonly record: UsageRecord
  /** The client has the answer or has disconnected: the charge is written even if that takes long. */
  readonly isDelivered: boolean
}

/** Credit reserved for one request. It is settled or released exactly once. */
export interface Hold {
  readonly amountNanoUsd: NanoUsd
  /** Balance of the account as this process knows it. */
  readonly balanceNanoUsd: NanoUsd
  /**
   * Raises the hold to this amount, or as far as the account and the caps allow, for an answer that used more than expected.
   * Returns null if memory has enough.
   */
  cover(neededNanoUsd: NanoUsd): Promise<void> | null
  /** Whether `cover` found less credit than needed in the account itself, and not only in a cap. */
  readonly isShort: boolean
  /** Charges at most what is held and frees the rest. Resolves when the charge is durable. */
  settle(settlement: Settlement): Promise<void>
  /** Frees the whole hold and charges nothing. */
  release(): void
}

/** What a hold needs from its pool. */
export interface HoldKeeper {
  write(charge: PendingCharge): Promise<void>
  /** Charges from newly borrowed credit after the leases of the hold were lost. */
  chargeAnew(payer: Payer, settlement: Settlement): Promise<void>
  /** Borrows more credit of the account if there is any. */
  borrowMore(payer: Payer, caps: readonly Cap[], neededNanoUsd: NanoUsd): Promise<void>
}

interface HoldOptions {
  readonly keeper: HoldKeeper
  readonly account: {
    readonly isLost: boolean
    readonly balanceNanoUsd: NanoUsd
    readonly debtNanoUsd: NanoUsd
    wake(): void
  }
  readonly payer: Payer
  readonly amountNanoUsd: NanoUsd
  /** Those of the time at which the request began. */
  readonly caps: readonly Cap[]
  /** The account's credit, then each cap: the same amount is held in all of them. */
  readonly balances: readonly BorrowedBalance[]
}

/** A hold in memory, and once it is settled the charge that is written for it. */
export class MemoryHold implements Hold {
  #amountNanoUsd: NanoUsd
  readonly #keeper: HoldKeeper
  readonly #account: HoldOptions['account']
  readonly #payer: Payer
  readonly #caps: readonly Cap[]
  readonly #balances: readonly BorrowedBalance[]
  #isOpen = true
  #isShort = false

  constructor({ keeper, account, payer, amountNanoUsd, caps, balances }: HoldOptions) {
    this.#amountNanoUsd = amountNanoUsd
    this.#keeper = keeper
    this.#account = account
    this.#payer = payer
    this.#caps = caps
    this.#balances = balances
  }

  get amountNanoUsd(): NanoUsd {
    return this.#amountNanoUsd
  }

  get balanceNanoUsd(): NanoUsd {
    return this.#account.balanceNanoUsd
  }

  get isShort(): boolean {
    return this.#isShort
  }

  cover(neededNanoUsd: NanoUsd): Promise<void> | null {
    if (this.#grow(neededNanoUsd)) return null
    const missingNanoUsd = neededNanoUsd - this.#amountNanoUsd
    return this.#keeper.borrowMore(this.#payer, this.#caps, missingNanoUsd).then(() => {
      this.#grow(neededNanoUsd)
    })
  }

  /** Grows the hold from memory. Returns whether that was enough. */
  #grow(neededNanoUsd: NanoUsd): boolean {
    const missingNanoUsd = neededNanoUsd - this.#amountNanoUsd
    if (missingNanoUsd <= 0n || !this.#isOpen || this.#account.isLost) return true
    // Free credit pays the debt first.
    this.#isShort = this.#account.debtNanoUsd > 0n
    if (this.#isShort) return false
    let grownNanoUsd = missingNanoUsd
    for (const { freeNanoUsd } of this.#balances) if (freeNanoUsd < grownNanoUsd) grownNanoUsd = freeNanoUsd
    for (const balance of this.#balances) balance.tryHold(grownNanoUsd)
    this.#amountNanoUsd += grownNanoUsd
    if (grownNanoUsd === missingNanoUsd) return true
    this.#isShort = this.#balances[0]?.freeNanoUsd === 0n
    return false
  }

  settle(settlement: Settlement): Promise<void> {
    const {
      costNanoUsd: askedNanoUsd,
      uncoveredNanoUsd: missedNanoUsd = 0n,
      owedNanoUsd = 0n,
      record,
      isDelivered,
    } = settlement
    this.#close()
    const { amountNanoUsd } = this
    const costNanoUsd = askedNanoUsd < amountNanoUsd ? askedNanoUsd : amountNanoUsd
    const uncoveredNanoUsd = missedNanoUsd + askedNanoUsd - costNanoUsd
    const payable = { costNanoUsd, uncoveredNanoUsd, owedNanoUsd, record, isDelivered }
    if (this.#account.isLost) return this.#keeper.chargeAnew(this.#payer, payable)
    const partsOfBalances: (readonly SpentPart[])[] = []
    for (const balance of this.#balances) partsOfBalances.push(balance.settle(amountNanoUsd, costNanoUsd))
    const [creditParts = []] = partsOfBalances
    if (costNanoUsd < amountNanoUsd) this.#account.wake()
    return this.#keeper.write({
      costNanoUsd,
      uncoveredNanoUsd,
      owedNanoUsd,
      record,
      isDelivered,
      promotionalNanoUsd: promotionalPart(creditParts),
      account: this.#account,
      parts: partsOfBalances.length === 1 ? creditParts : joinParts(partsOfBalances),
      undo: () => this.#undo(payable, partsOfBalances),
    })
  }

  release(): void {
    this.#close()
    if (this.#account.isLost) return
    for (const balance of this.#balances) balance.release(this.amountNanoUsd)
    this.#account.wake()
  }

  #undo(settlement: Settlement, partsOfBalances: readonly (readonly SpentPart[])[]): void {
    if (this.#account.isLost) {
      // The request has ended, but a delivered answer is still charged. The pool logs a failure.
      if (settlement.isDelivered) this.#keeper.chargeAnew(this.#payer, settlement).catch(() => {})
      return
    }
    for (const [index, balance] of this.#balances.entries()) balance.unspend(partsOfBalances[index] ?? [])
    this.#account.wake()
  }

  #close(): void {
    if (!this.#isOpen) throw new Error('a hold was settled or released twice')
    this.#isOpen = false
  }
}

/** On the hot path, where `flat` costs a microsecond. */
function joinParts(partsOfBalances: readonly (readonly SpentPart[])[]): SpentPart[] {
  const joined: SpentPart[] = []
  for (const parts of partsOfBalances) for (const part of parts) joined.push(part)
  return joined
}

function promotionalPart(parts: readonly SpentPart[]): NanoUsd {
  let promotional = 0n
  for (const { lease, amountNanoUsd } of parts)
    if (lease.class === 'promotional') promotional += amountNanoUsd
  return promotional
}
