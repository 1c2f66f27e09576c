import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { RecordedRequest } from '../scripted-server.ts'

/** A key of AWS that a local server knows. */
export interface AwsIdentity {
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly endsAtMs?: number
}

interface Verification {
  readonly identities: ReadonlyMap<string, AwsIdentity>
  readonly region: string
  readonly service: string
  readonly nowMs: number
  readonly skewMsMax: number
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/

/**
 * Verifies a request byte by byte, from https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html.
 * Returns the kind of the error and its message, or null.
 */
export function findSignatureProblem(
  request: RecordedRequest,
  { identities, region, service, nowMs, skewMsMax }: Verification,
): readonly [kind: string, message: string] | null {
  const parts = AUTHORIZATION.exec(request.headers['authorization'] ?? '')
  if (parts === null) return ['MissingAuthenticationTokenException', 'Missing Authentication Token']
  const [, accessKeyId = '', day = '', givenRegion = '', givenService = '', names = '', given = ''] = parts
  const identity = identities.get(accessKeyId)
  if (identity === undefined)
    return ['UnrecognizedClientException', 'The security token included in the request is invalid.']
  if (givenRegion !== region || givenService !== service)
    return ['InvalidSignatureException', `Credential should be scoped to a valid region and service.`]
  if (
    identity.sessionToken !== undefined &&
    request.headers['x-amz-security-token'] !== identity.sessionToken
  )
    return ['UnrecognizedClientException', 'The security token included in the request is invalid.']
  if ((identity.endsAtMs ?? Infinity) <= nowMs)
    return ['ExpiredTokenException', 'The security token included in the request is expired']
  const moment = String(request.headers['x-amz-date'])
  if (!moment.startsWith(day) || Math.abs(parseMoment(moment) - nowMs) > skewMsMax)
    return ['InvalidSignatureException', `Signature expired: ${moment}`]
  const signedNames = names.split(';')
  if (!signedNames.includes('host') || !signedNames.includes('x-amz-date'))
    return ['InvalidSignatureException', 'host and x-amz-date must be signed']
  const [path = '', search = ''] = request.path.split('?', 2)
  const query = [...new URLSearchParams(search)].map((pair) => pair.map(encodeStrictly).join('=')).toSorted()
  const canonical = [
    request.method,
    path.split('/').map(encodeStrictly).join('/'),
    query.join('&'),
    ...signedNames.map((name) => `${name}:${String(request.headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    names,
    sha256(request.bytes),
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', moment, scope, sha256(Buffer.from(canonical))].join('\n')
  const key = [day, region, service, 'aws4_request'].reduce<Buffer>(
    (secret, text) => hmac(secret, text),
    Buffer.from(`AWS4${identity.secretAccessKey}`),
  )
  return timingSafeEqual(hmac(key, toSign), Buffer.from(given, 'hex'))
    ? null
    : [
        'InvalidSignatureException',
        'The request signature we calculated does not match the signature you provided.',
      ]
}

function encodeStrictly(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function parseMoment(text: string): number {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? []
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
