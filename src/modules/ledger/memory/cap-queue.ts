import type { NanoUsd } from '../../../kernel/money.ts'
import type { CapRequest } from '../books/borrow-credit.ts'
import type { Cap } from '../books/lend-credit.ts'
import type { BorrowedBalance } from './borrowed-balance.ts'
import type { CapCredit } from './cap-credit.ts'

/** A request that waits for credit under a cap. */
export interface CapWait {
  readonly cap: Cap
  readonly credit: CapCredit
  readonly neededNanoUsd: NanoUsd
  /** How often the cap had been asked when the request began to wait. */
  readonly asked: number
}

/** The database lends this many caps at once. */
const CAPS_AT_ONCE_MAX = 100

/** The requests that wait for credit under the caps of one account, in the order of their turns. */
export class CapQueue {
  #waits: CapWait[] = []

  add(cap: Cap, credit: CapCredit, neededNanoUsd: NanoUsd): CapWait {
    const wait = { cap, credit, neededNanoUsd, asked: credit.asked }
    credit.queuedNanoUsd += neededNanoUsd
    this.#waits.push(wait)
    return wait
  }

  /** Takes this request and those behind it, or none if it was served in an earlier turn. */
  takeFrom(wait: CapWait): readonly CapWait[] {
    return this.#waits[0] === wait ? this.#waits.splice(0, CAPS_AT_ONCE_MAX) : []
  }

  /** Puts requests back that were taken in the turn of another one, which failed. */
  putBack(waits: readonly CapWait[]): void {
    this.#waits = [...waits, ...this.#waits]
  }
}

/** Gives up what is free of caps that changed: the amount borrowed under the old limit may exceed the new one. */
export async function giveUpOutdated(
  waits: readonly CapWait[],
  giveUp: (balances: readonly BorrowedBalance[]) => Promise<void>,
): Promise<void> {
  const outdated = [...capsOf(waits)].filter(
    ([credit, { limitNanoUsd }]) => credit.isDoubtful || credit.limitNanoUsd !== limitNanoUsd,
  )
  if (outdated.length === 0) return
  await giveUp(outdated.map(([{ balance }]) => balance))
  for (const [credit, { limitNanoUsd }] of outdated) credit.limitNanoUsd = limitNanoUsd
}

/** What must be borrowed so that all these requests have enough, or know that there is no more. Counts it as asked. */
export function missingFor(
  waits: readonly CapWait[],
): { readonly credit: CapCredit; readonly request: CapRequest }[] {
  const short = new Set(waits.filter((wait) => !hasEnough(wait)).map(({ credit }) => credit))
  return [...capsOf(waits)]
    .filter(([credit]) => short.has(credit))
    .map(([credit, cap]) => {
      credit.asked += 1
      return {
        credit,
        request: { cap, neededNanoUsd: credit.balance.missingOf(credit.queuedNanoUsd) || 1n },
      }
    })
}

/** The caps of these requests, each once and as it was named last. */
function capsOf(waits: readonly CapWait[]): Map<CapCredit, Cap> {
  return new Map(waits.map(({ credit, cap }) => [credit, cap]))
}

/** Whether a request earlier in the queue borrowed enough, or found the cap used up. */
function hasEnough({ credit, neededNanoUsd, asked }: CapWait): boolean {
  if (credit.isDoubtful) return false
  return credit.balance.freeNanoUsd >= neededNanoUsd || (credit.asked > asked && credit.roomNanoUsd === 0n)
}
