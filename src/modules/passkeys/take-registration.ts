import type { Database } from '../../storage/database.ts'
import { takeChallenge, type ChallengeOrder } from './challenges.ts'
import { readChallenge, unusableCredential, type NewCredential, type RelyingParty } from './credential.ts'
import { verifyRegistration, type VerifiedRegistration } from './verify-registration.ts'

interface RegistrationAnswer {
  readonly credential: NewCredential
  readonly given: Pick<ChallengeOrder, 'purpose' | 'boundTo'>
  readonly relyingParty: RelyingParty
}

/** Uses the challenge of a registration up and checks the answer to it. */
export async function takeRegistration(
  database: Database,
  { credential, given, relyingParty }: RegistrationAnswer,
): Promise<VerifiedRegistration & { userHandle: Buffer; relyingPartyId: string }> {
  const challenge = readChallenge(credential)
  const taken = challenge === null ? null : await takeChallenge(database, challenge, given)
  if (challenge === null || taken === null || taken.userHandle === null)
    throw unusableCredential('This registration took too long or was answered already. Begin again.')
  const verified = await verifyRegistration(credential, { challenge, relyingParty })
  return { ...verified, userHandle: taken.userHandle, relyingPartyId: relyingParty.id }
}
