import { AppError } from '../../../kernel/app-error.ts'
import { formatUsd, type NanoUsd } from '../../../kernel/money.ts'
import type { BorrowedAccount } from './borrowed-account.ts'
import { capReached } from '../books/cap-reached.ts'
import type { Cap } from '../books/lend-credit.ts'

/** The error for a refused hold: the needed amount, the available amount and the limit that was reached. */
export function refuseHold(account: BorrowedAccount, caps: readonly Cap[], leastNanoUsd: NanoUsd): AppError {
  const needed = `${formatUsd(leastNanoUsd)} USD needed`
  const cap = caps.find(({ scope }) => account.caps.freeNanoUsd(scope) < leastNanoUsd)
  if (account.freeNanoUsd >= leastNanoUsd && cap !== undefined)
    return capReached(cap, { neededNanoUsd: leastNanoUsd, leftNanoUsd: account.caps.freeNanoUsd(cap.scope) })
  const balance = account.balanceNanoUsd
  const inUseNanoUsd = account.heldNanoUsd + account.lentElsewhereNanoUsd
  const held = inUseNanoUsd > 0n ? `, of which running requests hold ${formatUsd(inUseNanoUsd)} USD` : ''
  const debt =
    account.debtNanoUsd > 0n
      ? ` The account owes ${formatUsd(account.debtNanoUsd)} USD; spending is suspended until it is paid.`
      : ''
  return new AppError(
    'insufficient_balance',
    `${needed}, ${formatUsd(balance)} USD available${held}.${debt} Add credit to go on.`,
  )
}

export function storageAway(cause?: unknown): AppError {
  const message = 'Credit cannot be reserved right now. Try again shortly.'
  return new AppError('service_unavailable', message, { retryAfterSeconds: 2, cause })
}

/** Whether the account and each cap have this amount free. */
export function isCovered(account: BorrowedAccount, caps: readonly Cap[], neededNanoUsd: NanoUsd): boolean {
  if (account.freeNanoUsd < neededNanoUsd) return false
  return caps.every(({ scope }) => account.caps.freeNanoUsd(scope) >= neededNanoUsd)
}
