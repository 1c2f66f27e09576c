import { AppError, notFound } from '../../../kernel/app-error.ts'
import type { PaymentProvider } from '../../../payments/payment-provider.ts'
import type { SavedMethod } from '../../../payments/saved-methods.ts'
import { saveCard, type SetupContext } from './save-card.ts'
import { findSetup, type SetupRecord } from './setup-record.ts'

/** A page of the gateway where a test card is saved. */
export interface HostedSetup {
  readonly state: 'open' | 'saved' | 'expired'
  readonly successUrl: string | null
  readonly cancelUrl: string | null
  readonly expiresAtMs: number
}

/** The URL of the page is its only credential. */
export async function readHostedSetup(
  context: SetupContext,
  provider: PaymentProvider,
  token: string,
): Promise<HostedSetup> {
  return toHosted(await findHosted(context, provider, token), context.clock.nowMs())
}

/** Saves the test card. A repeated call has no further effect. */
export async function saveHostedCard(
  context: SetupContext,
  provider: PaymentProvider,
  token: string,
  card: SavedMethod,
): Promise<HostedSetup> {
  const setup = await findHosted(context, provider, token)
  if (toHosted(setup, context.clock.nowMs()).state === 'expired')
    throw new AppError('conflict', 'This page has expired.')
  await saveCard(context, setup, card)
  return readHostedSetup(context, provider, token)
}

async function findHosted(
  { database }: SetupContext,
  provider: PaymentProvider,
  token: string,
): Promise<SetupRecord> {
  const sessionId = provider.sessionOfToken?.(token)
  const setup = sessionId === undefined ? null : await findSetup(database, provider.name, { sessionId })
  if (setup === null) throw notFound('checkout')
  return setup
}

function toHosted({ status, successUrl, cancelUrl, expiresAtMs }: SetupRecord, nowMs: number): HostedSetup {
  const state = status === 'open' && nowMs >= expiresAtMs ? 'expired' : status
  return { state, successUrl, cancelUrl, expiresAtMs }
}
