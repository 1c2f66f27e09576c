import { AppError } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { createId, isUuid } from '../../../kernel/identifiers.ts'
import type { PaymentProvider } from '../../../payments/payment-provider.ts'
import type { SavedMethod, SetupReport } from '../../../payments/saved-methods.ts'
import type { Database, Queryable } from '../../../storage/database.ts'
import { recordChange, type ChangeActor } from '../../audit/audit.ts'
import { requireWebAddress } from '../create-checkout.ts'
import { lockAutoTopUp, readAutoTopUp, writeAutoTopUp, type SavedCard } from './auto-top-up-record.ts'
import {
  countSetups,
  endSetup,
  findSetup,
  insertSetup,
  writeSetupSession,
  type SetupRecord,
} from './setup-record.ts'

export interface SetupContext {
  readonly database: Database
  readonly clock: Clock
}

export interface SetupRequest {
  readonly actor: ChangeActor
  /** The address of the gateway's own pages. */
  readonly baseUrl: string
  readonly successUrl: string | null
  readonly cancelUrl: string | null
}

export interface OpenedSetup {
  readonly id: string
  readonly url: string
  readonly expiresAtMs: number
}

const SETUP_MS = 3_600_000
const CHECK_AFTER_MS = 60_000
/** So that nobody tries stolen cards here. */
const SETUPS_A_DAY_MAX = 20
const DAY_MS = 86_400_000

/** Stores the setup before it calls the provider, because the webhook may arrive before the provider's response. */
export async function startSetup(
  { database, clock }: SetupContext,
  provider: PaymentProvider,
  { actor, baseUrl, successUrl, cancelUrl }: SetupRequest,
): Promise<OpenedSetup> {
  requireWebAddress('success_url', successUrl)
  requireWebAddress('cancel_url', cancelUrl)
  const { accountId } = actor
  const nowMs = clock.nowMs()
  if ((await countSetups(database, accountId, nowMs - DAY_MS)) >= SETUPS_A_DAY_MAX)
    throw new AppError(
      'rate_limit_exceeded',
      'Too many pages to save a card were opened today. Try again later.',
      {
        retryAfterSeconds: 3_600,
      },
    )
  const { card } = await readAutoTopUp(database, accountId)
  const customerId = card?.provider === provider.name ? card.customerId : null
  const setup = {
    id: createId(nowMs),
    accountId,
    baseUrl,
    successUrl,
    cancelUrl,
    expiresAtMs: nowMs + SETUP_MS,
  }
  await insertSetup(database, {
    ...setup,
    provider: provider.name,
    actor: toStored(actor),
    customerId,
    checkAtMs: nowMs + CHECK_AFTER_MS,
    nowMs,
  })
  const { url, ...session } = await provider.savedMethods.createSetup({
    ...setup,
    setupId: setup.id,
    customerId,
  })
  await writeSetupSession(database, setup.id, session)
  return { id: setup.id, url, expiresAtMs: setup.expiresAtMs }
}

/** Only what the audit log keeps. */
function toStored({ accountId, keyId, session, origin }: ChangeActor): ChangeActor {
  return {
    accountId,
    keyId,
    ...(session !== undefined && { session: { id: session.id } }),
    ...(origin !== undefined && {
      origin: { ipAddress: origin.ipAddress, userAgent: origin.userAgent },
    }),
  }
}

/** Asks the provider what has become of a page, and saves the card if there is one. Ids come from the provider and not from a client. */
export async function followSetup(
  context: SetupContext,
  provider: PaymentProvider,
  sessionId: string,
): Promise<SetupRecord | null> {
  const report = await provider.savedMethods.readSetup(sessionId)
  const setup = await findReported(context.database, provider, sessionId, report)
  if (setup === null) return null
  if (report.state === 'expired') await endSetup(context.database, setup.id, 'expired')
  if (report.method !== null) await saveCard(context, setup, report.method)
  return findSetup(context.database, provider.name, { id: setup.id })
}

/** A page is ours if we asked for it, for the same account. The provider's account may serve others too. */
async function findReported(
  database: Database,
  { name }: PaymentProvider,
  sessionId: string,
  { setupId, accountId }: SetupReport,
): Promise<SetupRecord | null> {
  const setup =
    setupId !== null && isUuid(setupId)
      ? await findSetup(database, name, { id: setupId })
      : await findSetup(database, name, { sessionId })
  if (setup === null || (accountId !== null && accountId !== setup.accountId)) return null
  return setup.sessionId === null || setup.sessionId === sessionId ? setup : null
}

/** Once for each page: a report that comes again, after the card was removed, does not bring it back. */
export function saveCard(
  { database, clock }: SetupContext,
  { id, accountId, provider, baseUrl, actor }: SetupRecord,
  method: SavedMethod,
): Promise<void> {
  return database.transaction(async (transaction) => {
    const record = await lockAutoTopUp(transaction, accountId)
    if (!(await endSetup(transaction, id, 'saved'))) return
    const nowMs = clock.nowMs()
    const { card: earlier } = record
    const card = { ...method, provider, baseUrl, savedAtMs: nowMs }
    await writeAutoTopUp(transaction, accountId, {
      ...record,
      card,
      failures: 0,
      nextTryAtMs: null,
      problem: null,
    })
    if (earlier !== null && earlier.methodId !== method.methodId)
      await forgetMethod(transaction, earlier, nowMs)
    await recordChange(transaction, {
      actor,
      accountId,
      type: 'payment_method.saved',
      projectId: null,
      resourceId: accountId,
      details: { data: { brand: method.brand, last4: method.last4 } },
    })
  })
}

/** Removes the saved card, which switches the automatic top-up off. Returns whether there was one. */
export function removeCard({ database, clock }: SetupContext, actor: ChangeActor): Promise<boolean> {
  return database.transaction(async (transaction) => {
    const { accountId } = actor
    const record = await lockAutoTopUp(transaction, accountId)
    if (record.card === null) return false
    const { brand, last4 } = record.card
    await writeAutoTopUp(transaction, accountId, { ...record, card: null, isEnabled: false })
    await forgetMethod(transaction, record.card, clock.nowMs())
    await recordChange(transaction, {
      actor,
      type: 'payment_method.removed',
      projectId: null,
      resourceId: accountId,
      details: { data: { brand, last4 } },
    })
    return true
  })
}

/** The provider forgets the method after the commit, by whichever process, until it has. */
async function forgetMethod(
  transaction: Queryable,
  { provider, methodId }: SavedCard,
  nowMs: number,
): Promise<void> {
  await transaction.query(
    `INSERT INTO payment_methods_to_remove (provider, method_id, check_at, created_at) VALUES ($1, $2, $3, $3)
     ON CONFLICT DO NOTHING`,
    [provider, methodId, new Date(nowMs)],
  )
}
