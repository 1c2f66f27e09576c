import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'

/** A site for which browsers make passkeys. */
export interface RelyingParty {
  /** The host. */
  readonly id: string
  /** `https://gateway.example.com` */
  readonly origin: string
}

/** The answer of an authenticator to a registration, as a browser writes it in JSON. */
export interface NewCredential {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: {
    readonly clientDataJSON: string
    readonly attestationObject: string
    readonly transports?: readonly string[]
  }
}

/** The answer of an authenticator to a sign-in. */
export interface KnownCredential {
  readonly id: string
  readonly rawId: string
  readonly type: 'public-key'
  readonly response: {
    readonly clientDataJSON: string
    readonly authenticatorData: string
    readonly signature: string
    readonly userHandle?: string | null
  }
}

/** Returns the challenge that an answer names. Null if there is none. */
export function readChallenge({ response }: NewCredential | KnownCredential): Buffer | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString())
    const challenge = isRecord(data) ? data['challenge'] : null
    return typeof challenge === 'string' ? Buffer.from(challenge, 'base64url') : null
  } catch {
    return null
  }
}

/** The same for every reason, so that the answer tells nothing about passkeys. */
export function invalidPasskey(): AppError {
  const message =
    'This passkey does not open anything here, or the answer came too late. Try again, or sign in another way.'
  return new AppError('invalid_passkey', message, { param: 'credential' })
}

export function notVerified(): AppError {
  const message =
    'The device did not check that it is you. Passkeys need its screen lock, fingerprint, face or PIN.'
  return new AppError('invalid_passkey', message, { param: 'credential' })
}

export function unusableCredential(message: string): AppError {
  return new AppError('invalid_value', message, { param: 'credential' })
}
