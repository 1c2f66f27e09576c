import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'
import type { NetworkPath } from '../connection/network-path.ts'
import { requestOnce } from '../connection/request-once.ts'
import { UpstreamError } from '../failures/upstream-error.ts'
import { readText } from './sign-in-document.ts'
import type { Expiring } from './token-keeper.ts'

const WAIT_MS_MAX = 10_000
const ANSWER_BYTES_MAX = 64 * 1024
/** Enough for every vendor: a token that says nothing of its end is asked for again soon. */
const LIFETIME_SECONDS_DEFAULT = 300

interface TokenRequest {
  readonly provider: string
  readonly url: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>
  readonly json?: object
  /** How the server is reached. Servers of the machine itself are asked directly. */
  readonly path?: NetworkPath | undefined
}

/** Asks a server of tokens and returns its JSON. Redirects are not followed. Throws only `UpstreamError`. */
export async function requestJson(asked: TokenRequest): Promise<Readonly<Record<string, unknown>>> {
  const { provider, url, form, json } = asked
  const body =
    form !== undefined
      ? new URLSearchParams(form).toString()
      : json === undefined
        ? null
        : JSON.stringify(json)
  const type = form === undefined ? 'application/json' : 'application/x-www-form-urlencoded'
  const { status, text } = await send(asked, body, body === null ? {} : { 'content-type': type }).catch(
    (cause: unknown) => {
      throw new UpstreamError(`${provider} could not sign in: its server of tokens did not answer`, {
        failure: 'connect',
        provider,
        cause,
      })
    },
  )
  const answer = parse(text)
  if (status < 200 || status > 299) throw refusedSignIn(provider, status, readReason(answer))
  if (answer === undefined)
    throw new UpstreamError(`${provider} could not sign in: the answer of ${new URL(url).host} is not JSON`, {
      failure: 'invalid_answer',
      provider,
    })
  return answer
}

function send(
  { url, method = 'POST', headers, path }: TokenRequest,
  body: string | null,
  type: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly text: string }> {
  return requestOnce({
    url,
    method,
    headers: { 'user-agent': 'parkway', accept: 'application/json', ...type, ...headers },
    body,
    path,
    signal: AbortSignal.timeout(WAIT_MS_MAX),
    bytesMax: ANSWER_BYTES_MAX,
  })
}

/** Reads the answer of OAuth: `access_token` and `expires_in`, which managed identities send as a text. */
export function readToken(provider: string, answer: Readonly<Record<string, unknown>>): Expiring<string> {
  const token = readText(answer, 'access_token')
  if (token === undefined || !/^[\x21-\x7e]{1,16384}$/.test(token))
    throw new UpstreamError(`${provider} could not sign in: the answer has no token`, {
      failure: 'invalid_answer',
      provider,
    })
  const seconds = Number(answer['expires_in'])
  const isKnown = Number.isFinite(seconds) && seconds > 0
  return { token, lifetimeMs: (isKnown ? seconds : LIFETIME_SECONDS_DEFAULT) * 1000 }
}

/** A refused sign-in is that of a refused key. The reason is a code: descriptions name accounts and applications. */
function refusedSignIn(provider: string, status: number, reason?: string): UpstreamError {
  const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429
  return new UpstreamError(
    `${provider} could not sign in: its server of tokens answered ${status}${reason === undefined ? '' : ` (${reason})`}`,
    { failure: 'status', provider, status: isRefused ? 401 : 503 },
  )
}

function readReason(answer: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const error = answer?.['error']
  const code = typeof error === 'string' ? error : readText(error, 'status')
  return code !== undefined && /^[A-Za-z_]{1,60}$/.test(code) ? code : undefined
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parseJson(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}
