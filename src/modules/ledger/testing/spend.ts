import type { Hold, Payer } from '../ledger.ts'
import { usageOf, type LedgerProcess } from './ledger-stage.ts'
import { PLAIN_CHARGE } from './plain-charge.ts'

export const hold = async (
  process: LedgerProcess,
  payer: Payer,
  wantedNanoUsd: bigint,
  leastNanoUsd = wantedNanoUsd,
): Promise<Hold> => process.ledger.hold(payer, { ...PLAIN_CHARGE, wantedNanoUsd, leastNanoUsd })

export const settle = (payer: Payer, open: Hold, costNanoUsd: bigint): Promise<void> =>
  open.settle({ costNanoUsd, record: usageOf(payer), isDelivered: false })

/** A request from its hold to its charge. */
export const spend = async (process: LedgerProcess, payer: Payer, costNanoUsd: bigint): Promise<void> =>
  settle(payer, await hold(process, payer, costNanoUsd), costNanoUsd)
