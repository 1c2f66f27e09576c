import { AppError } from '../../kernel/app-error.ts'
import type { RelyingParty, NewCredential } from './credential.ts'
import { unusableCredential } from './credential.ts'

export interface VerifiedRegistration {
  readonly credentialId: Buffer
  readonly publicKey: Buffer
  readonly counter: number
  readonly transports: readonly string[]
  readonly isSynced: boolean
}

/** Ed25519, ECDSA on P-256, and RSA, which Windows has. */
export const ALGORITHMS = [-8, -7, -257]
/** An RSA key of 4096 bits, with its frame. */
const PUBLIC_KEY_BYTES_MAX = 1024
const CREDENTIAL_ID_BYTES_MAX = 1023

/** Checks what an authenticator answered to a challenge. Throws with a reason that a person understands. */
export async function verifyRegistration(
  credential: NewCredential,
  { challenge, relyingParty }: { challenge: Buffer; relyingParty: RelyingParty },
): Promise<VerifiedRegistration> {
  const [{ verifyRegistrationResponse }, { decodeAttestationObject }] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ])
  try {
    const attestation = decodeAttestationObject(
      new Uint8Array(Buffer.from(credential.response.attestationObject, 'base64url')),
    )
    // Certificates name addresses that whoever checks them would call. We ask for none, and browsers then send none.
    const format = attestation.get('fmt')
    const isPlain =
      format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)
    if (!isPlain) throw unusableCredential('Passkeys with a certificate of their maker are not taken.')
    const { id, rawId, type, response } = credential
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id,
        rawId,
        type,
        response: { clientDataJSON: response.clientDataJSON, attestationObject: response.attestationObject },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge.toString('base64url'),
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (!verified) throw unusableCredential(REFUSED)
    const credentialId = Buffer.from(registrationInfo.credential.id, 'base64url')
    const publicKey = Buffer.from(registrationInfo.credential.publicKey)
    const isTooLarge =
      publicKey.length > PUBLIC_KEY_BYTES_MAX || credentialId.length > CREDENTIAL_ID_BYTES_MAX
    if (isTooLarge || credentialId.toString('base64url') !== id) throw unusableCredential(REFUSED)
    return {
      credentialId,
      publicKey,
      counter: registrationInfo.credential.counter,
      transports: response.transports ?? [],
      isSynced: registrationInfo.credentialBackedUp,
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    // The library throws for everything that is wrong with an answer.
    throw new AppError('invalid_value', reasonOf(error), { param: 'credential', cause: error })
  }
}

const REFUSED = 'The answer of the device is not the one to this registration. Begin again.'

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : ''
  if (text.startsWith('User verification'))
    return 'The device did not check that it is you. Passkeys need its screen lock, fingerprint, face or PIN.'
  return REFUSED
}
