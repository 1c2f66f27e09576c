import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose'
import type { IssuerKeys } from './issuer-keys.ts'
import type { TrustedIssuer } from './trusted-issuer.ts'

const CLOCK_SKEW_SECONDS = 60
/** Clusters give tokens for up to a day. An older one was kept where it should not be. */
const AGE_SECONDS_MAX = 24 * 3600

/**
 * Returns the claims of a token of this issuer, or null for anything else. Throws `IssuerAway` if that cannot be known now.
 */
export async function verifyToken(
  token: string,
  trusted: TrustedIssuer,
  { issuerKeys, nowMs }: { readonly issuerKeys: IssuerKeys; readonly nowMs: number },
): Promise<JWTPayload | null> {
  // Without this, a token of somebody else would make us ask the issuer for its keys.
  if (!mayBeOf(token, trusted)) return null
  const check = async (find: Parameters<typeof jwtVerify>[1]): Promise<JWTPayload> => {
    const { payload } = await jwtVerify(token, find, {
      issuer: trusted.issuer,
      audience: trusted.audience,
      algorithms: [...trusted.algorithms],
      clockTolerance: CLOCK_SKEW_SECONDS,
      maxTokenAge: AGE_SECONDS_MAX,
      requiredClaims: ['exp', 'iat', 'sub'],
      currentDate: new Date(nowMs),
    })
    return payload
  }
  try {
    if (trusted.jwks !== null) return await check(createLocalJWKSet(trusted.jwks))
    try {
      return await check(await issuerKeys.read(trusted.issuer))
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const renewed = await issuerKeys.readAgain(trusted.issuer)
      return renewed === null ? null : await check(renewed)
    }
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

function mayBeOf(token: string, { issuer, algorithms }: TrustedIssuer): boolean {
  try {
    const { alg } = decodeProtectedHeader(token)
    return decodeJwt(token).iss === issuer && algorithms.some((name) => name === alg)
  } catch {
    return false
  }
}
