import { NOTHING_USED, type KeyUsed } from '../../../providers/connection/key-limits.ts'
import type { VendorCost } from '../../ledger/ledger.ts'
import type { InferenceRecord } from '../inference-record.ts'

/**
 * What the limits of a key count of an answer: its tokens as they were measured, and what the vendor charges. If that is unknown, its
 * price, also the part of it that the account could not pay.
 */
export function countForKey(
  {
    usage,
    costNanoUsd,
    uncoveredNanoUsd,
  }: Pick<InferenceRecord, 'usage' | 'costNanoUsd' | 'uncoveredNanoUsd'>,
  vendorCost: Pick<VendorCost, 'nanoUsd'> | undefined,
): KeyUsed {
  return {
    tokens: usage === null ? 0 : usage.promptTokens + usage.completionTokens,
    spentNanoUsd: vendorCost?.nanoUsd ?? (costNanoUsd ?? 0n) + uncoveredNanoUsd,
  }
}

/**
 * Ends the uses of the keys that answered a request. Several keys that did parts of it share what it used. Those that were refused have
 * ended and take no part.
 */
export function endKeyUses(
  { keyUses }: Pick<InferenceRecord, 'keyUses'>,
  used: KeyUsed = NOTHING_USED,
): void {
  if (keyUses.length === 0) return
  const uses = keyUses.splice(0).filter(({ isOpen }) => isOpen)
  if (uses.length === 0) return
  const parts = BigInt(uses.length)
  const part = { tokens: Math.floor(used.tokens / uses.length), spentNanoUsd: used.spentNanoUsd / parts }
  const [first, ...others] = uses
  for (const use of others) use.end(part)
  first?.end({
    tokens: used.tokens - part.tokens * others.length,
    spentNanoUsd: used.spentNanoUsd - part.spentNanoUsd * BigInt(others.length),
  })
}
