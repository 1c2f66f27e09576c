import type { Clock } from '../../kernel/clock.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Database } from '../../storage/database.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Guesser } from './limit-guesses.ts'
import {
  createPromoCode,
  disablePromoCode,
  listPromoCodes,
  listRedemptions,
  readPromoCode,
  type PromoCodeDraft,
  type RedemptionRecord,
} from './manage-promo-codes.ts'
import type { PromoCode } from './promo-code.ts'
import { redeemPromoCode, type Redemption } from './redeem-promo-code.ts'

export interface PromoCodes {
  create(draft: PromoCodeDraft): Promise<PromoCode>
  read(promoCodeId: string): Promise<PromoCode>
  disable(promoCodeId: string): Promise<PromoCode>
  list(page: PageRequest): Promise<Page<PromoCode>>
  listRedemptions(promoCodeId: string, page: PageRequest): Promise<Page<RedemptionRecord>>
  redeem(redeemer: Guesser, text: string): Promise<Redemption>
}

export function createPromoCodes(options: {
  database: Database
  clock: Clock
  ledger: Pick<Ledger, 'grant' | 'announceChange' | 'readBalance'>
}): PromoCodes {
  const { database } = options
  return {
    create: (draft) => createPromoCode(options, draft),
    read: (promoCodeId) => readPromoCode(database, promoCodeId),
    disable: (promoCodeId) => disablePromoCode(options, promoCodeId),
    list: (page) => listPromoCodes(database, page),
    listRedemptions: (promoCodeId, page) => listRedemptions(database, promoCodeId, page),
    redeem: (redeemer, text) => redeemPromoCode(options, redeemer, text),
  }
}
