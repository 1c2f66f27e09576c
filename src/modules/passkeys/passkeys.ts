import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server'
import { notFound } from '../../kernel/app-error.ts'
import { isUuid } from '../../kernel/identifiers.ts'
import type { Caller } from '../keys/keys.ts'
import type { Entered } from '../people/people.ts'
import type { Browser, Session, StartedSession } from '../sessions/sessions.ts'
import { answerAssertion } from './answer-assertion.ts'
import { CHALLENGE_LIFE_MS, issueChallenge, type ChallengeOrder } from './challenges.ts'
import type { KnownCredential, NewCredential, RelyingParty } from './credential.ts'
import { insertPasskey } from './insert-passkey.ts'
import { listPasskeys, removePasskey, renamePasskey } from './own-passkeys.ts'
import type { Passkey } from './passkey-record.ts'
import type { PasskeysOptions } from './passkeys-options.ts'
import { readEnvironment, readMember } from './read-member.ts'
import { describeRegistration, listKnown, type RegistrationOptions } from './registration-options.ts'
import { takeRegistration } from './take-registration.ts'
import { waysToConfirm, type WaysToConfirm } from './ways-to-confirm.ts'

export { sweepChallenges } from './challenges.ts'
export type { RelyingParty } from './credential.ts'
export type { Passkey } from './passkey-record.ts'

type SignInOptions = PublicKeyCredentialRequestOptionsJSON

/** Somebody who is not signed in. */
interface Visitor {
  /** The secret of a cookie, which ties the answer to the browser that asked. */
  readonly browserSecret: string
  readonly network: string
}

interface Joining {
  readonly code: string
  readonly name: string | null
  readonly browser: Browser
  /** Null to come in without a passkey. */
  readonly passkey: {
    readonly credential: NewCredential
    readonly name: string
    readonly relyingParty: RelyingParty
    readonly browserSecret: string
  } | null
}

/** Passkeys of people. Functions with a caller throw `not_found` for a request that is not in the session of a person. */
export interface Passkeys {
  /** Begins a sign-in. Nobody says who they are: the authenticator knows. */
  startSignIn(visitor: Visitor, relyingParty: RelyingParty): Promise<SignInOptions>
  signIn(
    answer: { credential: KnownCredential; browserSecret: string; browser: Browser },
    relyingParty: RelyingParty,
  ): Promise<StartedSession>
  /** Begins to prove once more who uses the session. */
  startConfirm(caller: Caller, relyingParty: RelyingParty): Promise<SignInOptions>
  confirm(caller: Caller, credential: KnownCredential, relyingParty: RelyingParty): Promise<Session>
  /** How the session of the caller can prove it. */
  waysToConfirm(caller: Caller, relyingParty: RelyingParty | null): Promise<WaysToConfirm>
  /** Begins to make a passkey for the person of the session. */
  startRegistration(caller: Caller, relyingParty: RelyingParty): Promise<RegistrationOptions>
  register(
    caller: Caller,
    answer: { credential: NewCredential; name: string },
    relyingParty: RelyingParty,
  ): Promise<Passkey>
  /** Begins to make the first passkey of somebody who opened an invitation or a link for recovery. */
  startJoin(visitor: Visitor, code: string, relyingParty: RelyingParty): Promise<RegistrationOptions>
  /** Uses the link up, with a passkey or without. */
  join(joining: Joining): Promise<Entered>
  /** The passkeys of the person of the session in this account, the oldest first. None for a key. */
  list(caller: Caller): Promise<Passkey[]>
  rename(caller: Caller, passkeyId: string, name: string): Promise<Passkey>
  /** Throws `conflict` for the last way in, unless the person wants that. */
  remove(caller: Caller, passkeyId: string, options: { evenIfLast: boolean }): Promise<Passkey>
}

export function createPasskeys(options: PasskeysOptions): Passkeys {
  const { database, sessions, people } = options
  return {
    startSignIn: async ({ browserSecret, network }, { id }) => {
      const given = { ...ofBrowser('sign-in', browserSecret), network }
      return describeRequest(id, await issueChallenge(database, given), [])
    },
    signIn: ({ credential, browserSecret, browser }, relyingParty) =>
      answerAssertion(database, {
        credential,
        relyingParty,
        given: ofBrowser('sign-in', browserSecret),
        member: null,
        origin: browser,
        proceed: async (transaction, member) =>
          sessions.startForPerson(transaction, {
            ...member,
            ...browser,
            environment: await readEnvironment(transaction, member),
            method: 'passkey',
          }),
      }),
    startConfirm: async (caller, { id }) => {
      const person = personOf(caller)
      const known = await listKnown(database, person, id)
      if (known.length === 0) throw notFound('passkey')
      return describeRequest(
        id,
        await issueChallenge(database, ofSession('confirm', person.sessionId)),
        known,
      )
    },
    confirm: async (caller, credential, relyingParty) => {
      const person = personOf(caller)
      return answerAssertion(database, {
        credential,
        relyingParty,
        given: ofSession('confirm', person.sessionId),
        member: person,
        origin: caller.origin ?? NOWHERE,
        proceed: (transaction) => sessions.confirmPerson(transaction, person),
      })
    },
    waysToConfirm: ({ session }, relyingParty) =>
      waysToConfirm(database, session?.id ?? null, relyingParty?.id ?? null),
    startRegistration: async (caller, relyingParty) => {
      const person = personOf(caller)
      const member = await readMember(database, person)
      const given = ofSession('register', person.sessionId)
      return describeRegistration(database, { ...member, relyingParty, given, member: person })
    },
    register: async (caller, { credential, name }, relyingParty) => {
      const person = personOf(caller)
      const given = ofSession('register', person.sessionId)
      const registered = await takeRegistration(database, { credential, given, relyingParty })
      return database.transaction((transaction) =>
        insertPasskey(transaction, { ...registered, ...person, name, actor: caller }),
      )
    },
    startJoin: async ({ browserSecret, network }, code, relyingParty) => {
      const { accountId, userId, ...entry } = await people.entries.read(code)
      const member = userId === null ? null : { accountId, userId }
      const given = { ...ofLink(code, browserSecret), network }
      return describeRegistration(database, { ...entry, relyingParty, given, member })
    },
    join: async ({ code, name, browser, passkey }) => {
      if (passkey === null) return people.entries.accept({ code, name, browser })
      const { credential, relyingParty, browserSecret } = passkey
      const given = ofLink(code, browserSecret)
      const registered = await takeRegistration(database, { credential, given, relyingParty })
      return people.entries.accept({ code, name, browser }, async (transaction, entered) => {
        const { accountId, userId, session } = entered
        const actor = { accountId, keyId: session.keyId, session, origin: browser }
        await insertPasskey(transaction, { ...registered, accountId, userId, name: passkey.name, actor })
      })
    },
    list: async (caller) => (hasPerson(caller) ? listPasskeys(database, personOf(caller)) : []),
    rename: async (caller, passkeyId, name) => {
      const person = personOf(caller)
      requireId(passkeyId)
      return renamePasskey(database, { ...person, caller, passkeyId, name })
    },
    remove: async (caller, passkeyId, { evenIfLast }) => {
      const person = personOf(caller)
      requireId(passkeyId)
      return removePasskey(database, { ...person, caller, passkeyId, evenIfLast })
    },
  }
}

const ofBrowser = (purpose: 'sign-in', secret: string) => ({ purpose, boundTo: ['browser', secret] }) as const
const ofLink = (code: string, secret: string) =>
  ({ purpose: 'join', boundTo: ['link', code, secret] }) as const
const ofSession = (purpose: 'confirm' | 'register', sessionId: string): ChallengeOrder => ({
  purpose,
  boundTo: ['session', sessionId],
})

const NOWHERE = { ipAddress: null, userAgent: '' }

interface PersonInSession {
  readonly accountId: string
  readonly userId: string
  readonly sessionId: string
}

function hasPerson({ userId, session }: Caller): boolean {
  return typeof userId === 'string' && session !== undefined
}

/** A key that a person gave to a program must not make itself a way to sign in. */
function personOf({ accountId, userId, session }: Caller): PersonInSession {
  if (typeof userId !== 'string' || session === undefined) throw notFound('passkey')
  return { accountId, userId, sessionId: session.id }
}

function requireId(passkeyId: string): void {
  if (!isUuid(passkeyId)) throw notFound('passkey')
}

async function describeRequest(
  relyingPartyId: string,
  challenge: Buffer,
  known: Awaited<ReturnType<typeof listKnown>>,
): Promise<SignInOptions> {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server')
  return generateAuthenticationOptions({
    rpID: relyingPartyId,
    challenge: new Uint8Array(challenge),
    timeout: CHALLENGE_LIFE_MS,
    userVerification: 'required',
    allowCredentials: known.map(({ credential_id: id, transports }) => ({
      id: id.toString('base64url'),
      transports,
    })),
  })
}
