import { importPKCS8, SignJWT } from 'jose'
import { UpstreamError } from '../failures/upstream-error.ts'
import { createTokenSignIn, readTokenFile } from './keep-tokens.ts'
import { readToken, requestJson } from './request-token.ts'
import { findMissing, readText, type SignInDocument } from './sign-in-document.ts'
import type { SignInKind, SignInOptions } from './sign-in.ts'
import type { Expiring } from './token-keeper.ts'

/**
 * Access tokens of Google Cloud. The documents of service accounts and of workload identity federation are those that Google writes.
 * https://developers.google.com/identity/protocols/oauth2/service-account
 * https://google.aip.dev/auth/4117
 * https://cloud.google.com/compute/docs/access/authenticate-workloads
 */
export const googleSignIn: SignInKind = {
  findProblem(document) {
    const kind = KINDS.get(document.type)
    if (kind === undefined)
      return `the type of its sign-in document is none of ${[...KINDS.keys()].join(', ')}`
    if (document.type !== 'external_account') return findMissing(document, kind.members)
    const file = readText(document.readObject('credential_source'), 'file')
    return file === undefined
      ? 'only tokens in a file can be exchanged: credential_source.file is missing'
      : findMissing(document, kind.members)
  },
  needsMachine: (document) =>
    document.type !== 'service_account' || (document.read('token_uri') ?? TOKEN_URI) !== TOKEN_URI,
  create: (options) =>
    createTokenSignIn(
      {
        withKey: (key) => ['x-goog-api-key', key],
        getToken: (document, of) => requireKind(document).getToken(document, of),
      },
      options,
    ),
}

interface GoogleKind {
  readonly members: readonly string[]
  getToken(document: SignInDocument, options: SignInOptions): Promise<Expiring<string>>
}

const TOKEN_URI = 'https://oauth2.googleapis.com/token'
const STS_URL = 'https://sts.googleapis.com/v1/token'
const METADATA_URL =
  'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token'
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const JWT_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const EXCHANGE_GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token'
/** The longest that Google takes. */
const ASSERTION_SECONDS = 3600
const IMPERSONATED_SECONDS = 3600

const KINDS: ReadonlyMap<string, GoogleKind> = new Map<string, GoogleKind>([
  ['service_account', { members: ['client_email', 'private_key'], getToken: signAssertion }],
  ['external_account', { members: ['audience', 'subject_token_type'], getToken: exchangeToken }],
  ['google_metadata', { members: [], getToken: askMetadata }],
])

function requireKind(document: SignInDocument): GoogleKind {
  const kind = KINDS.get(document.type)
  if (kind === undefined) throw new TypeError('a sign-in document was not checked')
  return kind
}

async function signAssertion(
  document: SignInDocument,
  { provider, clock, path }: SignInOptions,
): Promise<Expiring<string>> {
  const tokenUri = document.read('token_uri') ?? TOKEN_URI
  const keyId = document.read('private_key_id')
  const issuedAt = Math.floor(clock.nowMs() / 1000)
  const key = await importPKCS8(document.read('private_key') ?? '', 'RS256').catch(() => {
    throw new UpstreamError(`${provider} could not sign in: its private key cannot be read`, {
      failure: 'status',
      provider,
      status: 401,
    })
  })
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) })
    .setIssuer(document.read('client_email') ?? '')
    .setAudience(tokenUri)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + ASSERTION_SECONDS)
    .sign(key)
  return readToken(
    provider,
    await requestJson({ provider, path, url: tokenUri, form: { grant_type: JWT_GRANT, assertion } }),
  )
}

/** Exchanges a token of another platform, and takes the place of a service account if the document names one. */
async function exchangeToken(
  document: SignInDocument,
  { provider, path }: SignInOptions,
): Promise<Expiring<string>> {
  const exchanged = readToken(
    provider,
    await requestJson({
      provider,
      path,
      url: document.read('token_url') ?? STS_URL,
      form: {
        grant_type: EXCHANGE_GRANT,
        audience: document.read('audience') ?? '',
        scope: SCOPE,
        requested_token_type: ACCESS_TOKEN_TYPE,
        subject_token_type: document.read('subject_token_type') ?? '',
        subject_token: await readSubjectToken(document, provider),
      },
    }),
  )
  const url = document.read('service_account_impersonation_url')
  if (url === undefined) return exchanged
  const answer = await requestJson({
    provider,
    path,
    url,
    headers: { authorization: `Bearer ${exchanged.token}` },
    json: { scope: [SCOPE], lifetime: `${IMPERSONATED_SECONDS}s` },
  })
  return readToken(provider, { access_token: answer['accessToken'], expires_in: IMPERSONATED_SECONDS })
}

async function readSubjectToken(document: SignInDocument, provider: string): Promise<string> {
  const source = document.readObject('credential_source')
  const text = await readTokenFile(provider, readText(source, 'file') ?? '')
  const format = source?.['format']
  if (readText(format, 'type') !== 'json') return text
  const name = readText(format, 'subject_token_field_name') ?? 'access_token'
  return readField(text, name) ?? ''
}

function readField(text: string, name: string): string | undefined {
  try {
    return readText(JSON.parse(text), name)
  } catch {
    return undefined
  }
}

async function askMetadata(document: SignInDocument, { provider }: SignInOptions): Promise<Expiring<string>> {
  const url = document.read('endpoint') ?? METADATA_URL
  return readToken(
    provider,
    await requestJson({ provider, url, method: 'GET', headers: { 'metadata-flavor': 'Google' } }),
  )
}
