import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { gatewayAway, notAGateway } from '../api/api-failure.ts'

/** What the command line calls itself. People see it where they sign it in. */
const CLIENT_ID = 'parkway-cli'
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

const ANSWER_MS_MAX = 30_000
const ANSWER_LENGTH_MAX = 64 * 1024

export interface OauthAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Sends a form to a route of OAuth. The path is ours, so that no answer leads the secrets to another host. */
export async function postForm(
  baseUrl: string,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<OauthAnswer> {
  return read(baseUrl, path, {
    method: 'POST',
    body: new URLSearchParams({ client_id: CLIENT_ID, ...fields }),
  })
}

/** Whether people can sign the command line in at this gateway. */
export async function offersDeviceSignIn(baseUrl: string): Promise<boolean> {
  const { status, body } = await read(baseUrl, '/.well-known/oauth-authorization-server', { method: 'GET' })
  return status === 200 && typeof body['device_authorization_endpoint'] === 'string'
}

async function read(baseUrl: string, path: string, init: RequestInit): Promise<OauthAnswer> {
  let response: Response
  try {
    response = await fetch(baseUrl + path, {
      ...init,
      redirect: 'manual',
      headers: { 'user-agent': 'parkway-cli' },
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
  } catch (error) {
    throw gatewayAway(baseUrl, error)
  }
  const text = await response.text()
  if (text.length > ANSWER_LENGTH_MAX) throw notAGateway(baseUrl, 'its answer is too long')
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return { status: response.status, body: { ...body } }
  } catch {
    // No JSON, so no answer of OAuth.
  }
  return { status: response.status === 200 ? 500 : response.status, body: {} }
}

/** What a tool needs to work for a person. */
export interface SignedIn {
  readonly access_token: string
  readonly refresh_token: string
  /** Milliseconds since 1970. */
  readonly expires_at: number
}

export function signedInOf(baseUrl: string, { body }: OauthAnswer): SignedIn {
  const { access_token: access, refresh_token: refresh, expires_in: seconds } = body
  if (typeof access !== 'string' || typeof refresh !== 'string' || typeof seconds !== 'number')
    throw notAGateway(baseUrl, 'its answer has no tokens')
  return { access_token: access, refresh_token: refresh, expires_at: Date.now() + seconds * 1000 }
}

export function oauthFailure({ body }: OauthAnswer): CommandFailure {
  const told = body['error_description'] ?? body['error']
  const message = typeof told === 'string' ? told : 'The gateway did not answer as expected.'
  return new CommandFailure(EXIT.notSignedIn, message, 'Sign in again with "parkway login".')
}
