import { createHash, randomBytes } from 'node:crypto'
import { EMPTY_REPORT } from '../payment-provider.ts'
import type { ChargeReport, SavedCharge, SavedMethod, SavedMethods } from '../saved-methods.ts'

const TOKEN_BYTES = 32
const CUSTOMER_ID = 'test_customer'

/** The cards that a person can save on the gateway's own page: one that is charged, and one that is declined. */
export const TEST_CARDS: Readonly<Record<'4242' | '0341', SavedMethod>> = {
  '4242': testCard('4242'),
  '0341': testCard('0341'),
}

const DECLINED = TEST_CARDS['0341'].methodId

/** Saved methods of test payments. No money moves, and whether a card is declined follows from its id. */
export function createTestSavedMethods(sessionOfToken: (token: string) => string): SavedMethods {
  const charge = async (order: SavedCharge): Promise<ChargeReport> =>
    order.methodId === DECLINED
      ? { report: { ...EMPTY_REPORT, state: 'failed' }, decline: { code: 'card_declined', isFinal: false } }
      : { report: paid(order), decline: null }
  return {
    createSetup: async ({ baseUrl }) => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      return {
        sessionId: sessionOfToken(token),
        url: `${baseUrl}/checkout/test-card/${token}`,
        customerId: CUSTOMER_ID,
      }
    },
    // A card is saved on the gateway's own page only, so the provider has nothing to report.
    readSetup: async () => ({ setupId: null, accountId: null, state: 'open', method: null }),
    charge,
    // The answer to a payment is always the same.
    repeatableMs: Number.POSITIVE_INFINITY,
    findCharge: charge,
    remove: async () => {},
  }
}

function paid({ paymentId, accountId, amountCents }: SavedCharge): ChargeReport['report'] {
  return {
    ...EMPTY_REPORT,
    paymentId,
    accountId,
    providerPaymentId: createHash('sha256').update(paymentId).digest('hex'),
    state: 'paid',
    amountCents,
    currency: 'usd',
  }
}

function testCard(last4: string): SavedMethod {
  return {
    customerId: CUSTOMER_ID,
    methodId: `test_card_${last4}`,
    brand: 'test card',
    last4,
    expiryMonth: null,
    expiryYear: null,
  }
}
