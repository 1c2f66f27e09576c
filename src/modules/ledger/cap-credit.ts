import type { NanoUsd } from '../../kernel/money.ts'
import { Purse } from './purse.ts'

/** What one process has borrowed under a cap. */
export class CapCredit {
  readonly purse = new Purse()
  /** Of the cap while it was borrowed. */
  limitNanoUsd: NanoUsd
  /** Lent to nobody, as of the last look. */
  roomNanoUsd: NanoUsd = 0n
  /** The cap may leave less than was borrowed under it. */
  isDoubtful = false

  constructor(limitNanoUsd: NanoUsd) {
    this.limitNanoUsd = limitNanoUsd
  }
}
