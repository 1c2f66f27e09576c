import { randomBytes } from 'node:crypto'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import type { Queryable } from '../../storage/database.ts'
import { CHALLENGE_LIFE_MS, issueChallenge, type ChallengeOrder } from './challenges.ts'
import type { RelyingParty } from './credential.ts'
import { ALGORITHMS } from './verify-registration.ts'

/** What a browser passes on to an authenticator. */
export type RegistrationOptions = PublicKeyCredentialCreationOptionsJSON

interface Registration {
  readonly relyingParty: RelyingParty
  readonly given: Pick<ChallengeOrder, 'purpose' | 'boundTo' | 'network'>
  readonly accountName: string
  readonly email: string
  readonly name: string | null
  /** The member, once there is one. */
  readonly member: { readonly accountId: string; readonly userId: string } | null
}

const HANDLE_BYTES = 32

/** Makes the challenge of a registration, and describes to the browser what passkey it has to make. */
export async function describeRegistration(
  queryable: Queryable,
  { relyingParty, given, accountName, email, name, member }: Registration,
): Promise<RegistrationOptions> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server')
  const known = member === null ? [] : await listKnown(queryable, member, relyingParty.id)
  const userHandle = known[0]?.user_handle ?? randomBytes(HANDLE_BYTES)
  const challenge = await issueChallenge(queryable, { ...given, userHandle })
  return generateRegistrationOptions({
    rpID: relyingParty.id,
    rpName: 'Parkway',
    // A person may have passkeys of several accounts, and browsers show only this to choose by.
    userName: `${email} (${accountName})`,
    userDisplayName: name ?? email,
    userID: new Uint8Array(userHandle),
    challenge: new Uint8Array(challenge),
    timeout: CHALLENGE_LIFE_MS,
    attestationType: 'none',
    excludeCredentials: known.map(({ credential_id: id, transports }) => ({
      id: id.toString('base64url'),
      transports,
    })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
  })
}

interface KnownRow {
  readonly credential_id: Buffer
  readonly user_handle: Buffer
  readonly transports: string[]
}

/** Returns the passkeys that the member has for this host. */
export function listKnown(
  queryable: Queryable,
  { accountId, userId }: { accountId: string; userId: string },
  relyingPartyId: string,
): Promise<KnownRow[]> {
  return queryable.query<KnownRow>(
    `SELECT credential_id, user_handle, transports FROM passkeys
     WHERE account_id = $1 AND user_id = $2 AND rp_id = $3 ORDER BY id`,
    [accountId, userId, relyingPartyId],
  )
}
