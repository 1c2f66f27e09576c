import type { Charged } from '../ledger.ts'

/** A charge without labels. */
export const PLAIN_CHARGE: Charged = { model: 'test-chat', labels: [] }
