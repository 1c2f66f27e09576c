import { AppError } from '../../kernel/app-error.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { wireId } from '../../wires/organization-ids.ts'
import { recordFailedSignIn, type RequestOrigin } from '../audit/audit.ts'
import type { Browser } from '../sessions/sessions.ts'
import { acceptInvite, findOpenInvite, type Entered } from './accept-invite.ts'
import { hashCode } from './hash-code.ts'
import type { PeopleOptions } from './people-options.ts'
import { findOpenLink, useRecoveryLink } from './recovery-links.ts'

/** A link by which a person comes into an account once. */
interface Entry {
  readonly kind: 'invitation' | 'recovery'
  readonly accountId: string
  readonly accountName: string
  readonly email: string
  /** As the person is called in the account, if it knows. */
  readonly name: string | null
  readonly expiresAtMs: number
  /** The member. Null before the person is one. */
  readonly userId: string | null
}

interface EntryAnswer {
  readonly code: string
  readonly name: string | null
  readonly browser: Browser
}

export interface Entries {
  /** Says where a link leads. It does not use it up. */
  read(code: string): Promise<Entry>
  /**
   * Uses the link up and starts a session of the person in this account only. `then` does more in the same transaction: if it throws, the
   * link was not used.
   */
  accept(
    answer: EntryAnswer,
    then?: (transaction: Queryable, entered: Entered) => Promise<void>,
  ): Promise<Entered>
}

const CODE_PATTERN = /^[\w-]{43}$/

export function createEntries(options: PeopleOptions): Entries {
  const { database, clock } = options
  return {
    read: async (code) => {
      const codeHash = requireHash(code)
      const nowMs = clock.nowMs()
      const invite = await findOpenInvite(database, codeHash, nowMs)
      const found = invite ?? (await findOpenLink(database, codeHash, nowMs))
      if (found === null) throw invalidEntry()
      return {
        kind: invite === null ? 'recovery' : 'invitation',
        accountId: found.account_id,
        accountName: found.account_name,
        email: found.email,
        name: found.name,
        expiresAtMs: found.expires_at.getTime(),
        userId: found.user_id,
      }
    },
    accept: async ({ code, name, browser }, then) => {
      const answer = { codeHash: requireHash(code), name, browser, nowMs: clock.nowMs() }
      const entered = await database.transaction(async (transaction) => {
        const found =
          (await acceptInvite(transaction, options, answer)) ??
          (await useRecoveryLink(transaction, options, answer))
        if (found !== null) await then?.(transaction, found)
        return found
      })
      if (entered?.endsTools === true)
        await options.keys.announcePeopleChange(entered.accountId, [entered.userId])
      if (entered !== null) return entered
      const error = invalidEntry()
      await noteFailedInvite(database, answer.codeHash, browser, error).catch(() => undefined)
      throw error
    },
  }
}

function requireHash(code: string): Buffer {
  if (!CODE_PATTERN.test(code)) throw invalidEntry()
  return hashCode(code)
}

/** Somebody has a link that no longer works: whoever invited may want to know. */
async function noteFailedInvite(
  database: Database,
  codeHash: Buffer,
  origin: RequestOrigin,
  error: AppError,
): Promise<void> {
  const [invite] = await database.query<{ id: string; account_id: string }>(
    'SELECT id, account_id FROM invites WHERE code_hash = $1',
    [codeHash],
  )
  if (invite === undefined) return
  const { id, account_id: accountId } = invite
  const resourceId = wireId('invite', id)
  await recordFailedSignIn(database, { accountId, projectId: null, resourceId, origin, error })
}

/** The same for every reason, so that the answer tells nothing about codes. */
function invalidEntry(): AppError {
  const message = 'This link has been used, replaced or withdrawn, or has expired. Ask for another one.'
  return new AppError('invalid_sign_in_code', message, { param: 'code' })
}
