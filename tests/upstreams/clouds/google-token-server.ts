import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { json } from '../openai-server.ts'
import type { RecordedRequest } from '../scripted-server.ts'
import { startTokenServer, type TokenServer } from './token-server.ts'

export const PROJECT = 'acme-prod-471108'
export const SERVICE_ACCOUNT = `gateway@${PROJECT}.iam.gserviceaccount.com`
export const CLOUD_SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
export const POOL =
  '//iam.googleapis.com/projects/471108150012/locations/global/workloadIdentityPools/pool/providers/ci'
export const SUBJECT_TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjaSJ9.c2ln'
const FEDERATED = 'federated'
/** Tests move the clock of the gateway. */
const SKEW_SECONDS_MAX = 24 * 60 * 60

interface GoogleTokenOptions {
  readonly publicKey: string
}

/**
 * Google's servers of tokens, from https://developers.google.com/identity/protocols/oauth2/service-account,
 * https://google.aip.dev/auth/4117 and https://cloud.google.com/compute/docs/access/authenticate-workloads. The signature of an assertion
 * is verified.
 */
export async function startGoogleTokenServer({ publicKey }: GoogleTokenOptions): Promise<TokenServer> {
  const key = createPublicKey(publicKey)
  const server: TokenServer = await startTokenServer({
    check: (request) =>
      CHECKS[request.path.split('?')[0] ?? '']?.(request, { server, key }) ?? refused('not_found'),
    answer: (token) => ({
      access_token: token,
      // Impersonation answers in another form.
      accessToken: token,
      expireTime: new Date(Date.now() + 3_600_000).toISOString(),
      expires_in: 3599,
      token_type: 'Bearer',
    }),
  })
  return server
}

interface CheckContext {
  readonly server: TokenServer
  readonly key: KeyObject
}

type Checked = { readonly audience: string } | ReturnType<typeof refused>

const CHECKS: Readonly<Record<string, (request: RecordedRequest, context: CheckContext) => Checked>> = {
  '/token': ({ text, headers }, { key }) => {
    const form = new URLSearchParams(text)
    const isGrant = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const isSigned = verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claims}`),
      key,
      Buffer.from(signature, 'base64url'),
    )
    if (!isGrant || !isSigned) return refused('invalid_grant')
    const { alg } = decode(head)
    const { iss, scope, aud, iat, exp } = decode(claims)
    const isFresh = Math.abs(Number(iat) - Date.now() / 1000) < SKEW_SECONDS_MAX
    const isShort = Number(exp) - Number(iat) <= 3600 && Number(exp) > Number(iat)
    const isMeant = aud === `http://${headers.host}/token`
    return alg === 'RS256' &&
      iss === SERVICE_ACCOUNT &&
      scope === CLOUD_SCOPE &&
      isFresh &&
      isShort &&
      isMeant
      ? { audience: CLOUD_SCOPE }
      : refused('invalid_grant')
  },
  '/v1/token': ({ text }) => {
    const form = new URLSearchParams(text)
    const isExchange =
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:token-exchange' &&
      form.get('requested_token_type') === 'urn:ietf:params:oauth:token-type:access_token' &&
      form.get('subject_token_type') === 'urn:ietf:params:oauth:token-type:jwt' &&
      form.get('audience') === POOL &&
      form.get('scope') === CLOUD_SCOPE
    return isExchange && form.get('subject_token') === SUBJECT_TOKEN
      ? { audience: FEDERATED }
      : refused('invalid_request')
  },
  [`/v1/projects/-/serviceAccounts/${SERVICE_ACCOUNT}:generateAccessToken`]: (
    { headers, body },
    { server },
  ) =>
    server.accepts(headers['authorization'], FEDERATED) &&
    JSON.stringify(body) === JSON.stringify({ scope: [CLOUD_SCOPE], lifetime: '3600s' })
      ? { audience: CLOUD_SCOPE }
      : refused('PERMISSION_DENIED'),
  '/computeMetadata/v1/instance/service-accounts/default/token': ({ method, headers }) =>
    method === 'GET' && headers['metadata-flavor'] === 'Google'
      ? { audience: CLOUD_SCOPE }
      : refused('invalid_request'),
}

function refused(error: string) {
  return { refused: json({ error, error_description: `Not for ${SERVICE_ACCOUNT} of ${PROJECT}` }, 400) }
}

function decode(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}
