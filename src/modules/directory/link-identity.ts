import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import type { Caller } from '../keys/keys.ts'
import { isAccountOpen } from './enter-account.ts'
import { useOnce } from './finish-sign-in.ts'
import { readIdentity, recordIdentity, type Identity } from './identities.ts'
import type { SealedProvider } from './identity-provider.ts'
import type { PersonAtProvider } from './read-claims.ts'
import { SignInProblem } from './sign-in-problem.ts'
import { SIGN_IN_LIFE_MS, type SessionOfPerson, type SignInState } from './sign-in-state.ts'

const PLACE = 'identity to link'
const TICKET_LENGTH_MAX = 6000
const CLOCK_SKEW_MS = 60_000

/** What the provider said of whoever signed in there, for the one session that asked. */
interface LinkTicket {
  readonly sessionId: string
  readonly providerId: string
  readonly subject: string
  readonly email: string
  readonly sealedAtMs: number
}

interface Proven {
  readonly provider: SealedProvider
  readonly person: PersonAtProvider
  readonly begun: SignInState
  readonly nowMs: number
}

/**
 * Returns a ticket with which the session that asked links the identity. The browser has no cookie of the session when it comes back from the
 * provider, so the page of the console sends the ticket: no other session and no other site can.
 */
export async function sealTicket(
  { database, sealer }: { readonly database: Database; readonly sealer: Sealer },
  { provider, person, begun, nowMs }: Proven,
  { sessionId, accountId, userId }: SessionOfPerson,
): Promise<string> {
  const { authenticatedAtMs, subject, email } = person
  if (authenticatedAtMs !== null && authenticatedAtMs < begun.begunAtMs - CLOCK_SKEW_MS) {
    const detail = 'The person did not sign in again at the provider.'
    throw new SignInProblem('not_fresh', { accountId, userId, detail })
  }
  await database.transaction(async (transaction) => {
    await useOnce(transaction, {
      providerId: provider.id,
      token: begun.state,
      untilMs: nowMs + SIGN_IN_LIFE_MS,
    })
    if (await isAccountOpen(transaction, { provider, person, accountId, nowMs })) return
    const detail = `${provider.name} does not let ${email} into this account.`
    throw new SignInProblem('no_account', { accountId, userId, detail })
  })
  const ticket: LinkTicket = { sessionId, providerId: provider.id, subject, email, sealedAtMs: nowMs }
  return sealer.seal(JSON.stringify(ticket), PLACE).toString('base64url')
}

interface LinkOptions {
  readonly database: Database
  readonly sealer: Sealer
  readonly nowMs: number
}

/** Links the identity of a ticket to the person of the session that asked for it. */
export async function linkIdentity(
  { database, sealer, nowMs }: LinkOptions,
  caller: Caller & { readonly userId: string },
  text: string,
): Promise<Identity> {
  const ticket = openTicket(sealer, text, nowMs)
  if (ticket === null || ticket.sessionId !== caller.session?.id) throw invalidTicket()
  const { accountId, userId } = caller
  const { providerId, subject, email } = ticket
  return database.transaction(async (transaction) => {
    // As at a sign-in, which may make a member of the same identity at this moment.
    await transaction.query(
      `SELECT pg_advisory_xact_lock(hashtextextended('identity ' || $1 || ' ' || $2, 0))`,
      [providerId, subject],
    )
    await useOnce(transaction, { providerId, token: `link ${text}`, untilMs: nowMs + SIGN_IN_LIFE_MS }).catch(
      (error: unknown) => {
        throw error instanceof SignInProblem ? invalidTicket() : error
      },
    )
    await requireFree(transaction, { accountId, userId, providerId, subject })
    await transaction.query(
      `INSERT INTO identities (provider_id, subject, account_id, user_id, email, created_at, last_used_at)
       VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (provider_id, subject, account_id) DO NOTHING`,
      [providerId, subject, accountId, userId, email, new Date(nowMs)],
    )
    const identity = await readIdentity(transaction, { accountId, userId, providerId })
    if (identity === null) throw invalidTicket()
    await recordIdentity(transaction, caller, 'identity.created', { userId, identity })
    return identity
  })
}

/** Throws if the identity is another member of the account, or the member is somebody else at this provider. */
async function requireFree(
  transaction: Queryable,
  place: { accountId: string; userId: string; providerId: string; subject: string },
): Promise<void> {
  const { accountId, userId, providerId, subject } = place
  const rows = await transaction.query<{ subject: string; user_id: string }>(
    `SELECT i.subject, i.user_id FROM identities i
     WHERE i.provider_id = $1 AND i.account_id = $2 AND (i.subject = $3 OR i.user_id = $4)`,
    [providerId, accountId, subject, userId],
  )
  if (rows.some((row) => row.subject === subject && row.user_id !== userId))
    throw new AppError('conflict', 'With this sign-in another member of the account comes in.')
  if (rows.some((row) => row.user_id === userId && row.subject !== subject))
    throw new AppError('conflict', 'You come in with another sign-in of this provider. Remove it first.')
}

function openTicket(sealer: Sealer, text: string, nowMs: number): LinkTicket | null {
  if (text.length > TICKET_LENGTH_MAX) return null
  const opened = sealer.open(Buffer.from(text, 'base64url'), PLACE)
  if (opened === null) return null
  const ticket: unknown = JSON.parse(opened)
  return isTicket(ticket) && nowMs - ticket.sealedAtMs < SIGN_IN_LIFE_MS ? ticket : null
}

function isTicket(value: unknown): value is LinkTicket {
  if (!isRecord(value) || typeof value['sealedAtMs'] !== 'number') return false
  return ['sessionId', 'providerId', 'subject', 'email'].every((name) => typeof value[name] === 'string')
}

function invalidTicket(): AppError {
  const message =
    'The sign-in at the provider is of another session, was used, or is too old. Begin to link again.'
  return new AppError('invalid_value', message, { param: 'ticket' })
}
