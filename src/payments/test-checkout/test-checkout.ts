import { createHash, randomBytes } from 'node:crypto'
import { AppError } from '../../kernel/app-error.ts'
import { EMPTY_REPORT, type PaymentProvider } from '../payment-provider.ts'
import { createTestSavedMethods } from './test-saved-methods.ts'

const TOKEN_BYTES = 32

/**
 * Creates the provider for test payments: the gateway serves the page, and a person confirms. Anyone with the page's URL may pay.
 * Only a hash of the secret in it is stored.
 */
export function createTestCheckout(): PaymentProvider {
  return {
    name: 'test',
    isTestMode: true,
    publishableKey: null,
    problem: null,
    createCheckout: async ({ baseUrl }) => {
      const token = randomBytes(TOKEN_BYTES).toString('base64url')
      return { sessionId: sessionOfToken(token), url: `${baseUrl}/checkout/test/${token}` }
    },
    // Test payments change only on the gateway's own page, so the provider has nothing to report.
    readCheckout: async (sessionId) => ({ ...EMPTY_REPORT, sessionId }),
    readPayment: async () => EMPTY_REPORT,
    readWebhook: async () => {
      throw new AppError('not_found', 'The test checkout sends no webhooks.')
    },
    refund: async ({ sessionId, amountCents, idempotencyKey }) => ({
      ...EMPTY_REPORT,
      sessionId,
      reversals: [{ kind: 'refund', id: digest(idempotencyKey), amountCents, isReturned: false }],
    }),
    savedMethods: createTestSavedMethods(sessionOfToken),
    sessionOfToken,
  }
}

function sessionOfToken(token: string): string {
  return digest(token)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
