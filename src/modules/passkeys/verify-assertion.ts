import { generateKeyPairSync } from 'node:crypto'
import type { KnownCredential, RelyingParty } from './credential.ts'
import { notVerified } from './credential.ts'

const USER_VERIFIED = 0x04
const FLAGS_AT = 32

/** Throws if the device says that it did not check who uses it. It tells nothing about the passkey, because anybody can write it. */
export function requireVerifiedUser({ response }: KnownCredential): void {
  const flags = Buffer.from(response.authenticatorData, 'base64url')[FLAGS_AT] ?? 0
  if ((flags & USER_VERIFIED) === 0) throw notVerified()
}

interface AssertionCheck {
  readonly challenge: Buffer
  readonly relyingParty: RelyingParty
  /** Null for a passkey that is not known: it takes as long, and fails. */
  readonly publicKey: Buffer | null
}

/** Returns the counter of the authenticator, and whether its maker keeps a copy. Null if the answer is not right. */
export async function verifyAssertion(
  { id, rawId, type, response }: KnownCredential,
  { challenge, relyingParty, publicKey }: AssertionCheck,
): Promise<{ counter: number; isSynced: boolean } | null> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId,
        type,
        response: {
          clientDataJSON: response.clientDataJSON,
          authenticatorData: response.authenticatorData,
          signature: response.signature,
        },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge.toString('base64url'),
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.id,
      // The counter is compared where it is written: the library would compare it before it knows that the passkey answered.
      credential: { id, publicKey: new Uint8Array(publicKey ?? nobodysKey()), counter: 0 },
      requireUserVerification: true,
    })
    if (!verified || publicKey === null) return null
    const { newCounter, credentialBackedUp } = authenticationInfo
    return { counter: newCounter, isSynced: credentialBackedUp }
  } catch {
    // The library throws for everything that is wrong with an answer.
    return null
  }
}

let nobodys: Buffer | null = null

/** A key in the form of authenticators (COSE, ECDSA on P-256) whose other half is thrown away. */
function nobodysKey(): Buffer {
  if (nobodys !== null) return nobodys
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
    format: 'jwk',
  })
  nobodys = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])
  return nobodys
}
