import { CommandFailure } from '../command-failure.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'

interface ErrorMembers {
  readonly message?: unknown
  readonly code?: unknown
  readonly request_id?: unknown
}

/** An error response of the gateway. */
export class ApiFailure extends CommandFailure {
  readonly status: number
  readonly code: string | null
  readonly requestId: string | null
  /** Seconds after which the request may be sent again, if the gateway names them. */
  readonly retryAfterS: number | null

  constructor(body: unknown, response: Response) {
    const { message, code, request_id: requestId } = errorOf(body)
    const retryAfterS = readSeconds(response.headers.get('retry-after'))
    super(
      exitCodeOf(response.status),
      typeof message === 'string' ? message : `The gateway answered with status ${response.status}.`,
      adviceFor(response.status, { code, retryAfterS }),
    )
    this.status = response.status
    this.code = typeof code === 'string' ? code : null
    this.requestId = typeof requestId === 'string' ? requestId : response.headers.get('x-request-id')
    this.retryAfterS = retryAfterS
  }
}

/** Statuses of a server between the client and the gateway that does not reach it. */
const UNREACHED: ReadonlySet<number> = new Set([502, 503, 504])

/** Returns the failure of a response that is not a success: of the gateway, or of another server at its address. */
export function failureOf(baseUrl: string, body: unknown, response: Response): CommandFailure {
  const { status } = response
  if (status >= 300 && status < 400) return redirected(baseUrl, response.headers.get('location'))
  const { message, code } = errorOf(body)
  if (typeof (message ?? code) === 'string') return new ApiFailure(body, response)
  if (UNREACHED.has(status))
    return new CommandFailure(
      EXIT.gatewayAway,
      `The gateway at ${baseUrl} is away: the server before it answered with status ${status}.`,
      'Try again in a while, or tell its operator.',
    )
  if (status === 404)
    return notAGateway(baseUrl, 'it answered with status 404, without the reason that a gateway gives')
  return new ApiFailure(body, response)
}

/** Another server than a gateway answers. */
export function notAGateway(baseUrl: string, evidence: string): CommandFailure {
  return new CommandFailure(
    EXIT.gatewayAway,
    `What answers at ${baseUrl} is not a Parkway gateway: ${evidence}.`,
    'Check the address of the profile (parkway profiles).',
  )
}

/** The key is not sent on to an address that the user did not name. */
function redirected(baseUrl: string, location: string | null): CommandFailure {
  const place =
    location !== null && URL.canParse(location, baseUrl) ? new URL(location, baseUrl).origin : null
  return new CommandFailure(
    EXIT.gatewayAway,
    `${baseUrl} does not serve the API, but leads to ${place ?? 'another address'}.`,
    `If that is your gateway, sign in there: parkway login --url ${place ?? '…'}`,
  )
}

/** A gateway that cannot be reached. */
export function gatewayAway(baseUrl: string, error: unknown): CommandFailure {
  const cause = error instanceof Error ? (describeCause(error.cause) ?? error.message) : String(error)
  return new CommandFailure(
    EXIT.gatewayAway,
    `The gateway at ${baseUrl} does not answer: ${cause}.`,
    'Check that it runs, and the address of the profile (parkway profiles).',
  )
}

/** A gateway that has taken the connection, and sends nothing. */
export function gatewaySilent(baseUrl: string, silenceMs: number): CommandFailure {
  return new CommandFailure(
    EXIT.gatewayAway,
    `The gateway at ${baseUrl} took the request, but sent nothing for ${silenceMs / 1_000} s.`,
    'Try again in a while. If it stays silent, check the address of the profile (parkway profiles), or tell its operator.',
  )
}

function describeCause(cause: unknown): string | null {
  if (!(cause instanceof Error)) return null
  // A name with several addresses fails with one error per address and no message of its own.
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : null
  return cause.message !== '' ? cause.message : first instanceof Error ? first.message : cause.name
}

/** Other servers write the reason as text. */
function errorOf(body: unknown): ErrorMembers {
  const error: unknown = isRecord(body) && 'error' in body ? body.error : null
  if (typeof error === 'string') return { message: error }
  return isRecord(error) ? error : {}
}

function exitCodeOf(status: number): ExitCode {
  if (status === 401) return EXIT.notSignedIn
  if (status === 402) return EXIT.noCredit
  if (status === 404) return EXIT.notFound
  if (status === 429) return EXIT.limited
  return EXIT.failed
}

const NO_CREDIT_ADVICE: Readonly<Record<string, string>> = {
  key_limit_reached: 'Raise the limit of the key ("parkway keys") or of the account ("parkway budget").',
  deployment_budget_reached: 'Raise the budget of the deployment ("parkway deploy").',
}

function adviceFor(
  status: number,
  { code, retryAfterS }: { code: unknown; retryAfterS: number | null },
): string | null {
  if (status === 401) return 'Sign in with "parkway login".'
  if (status === 402)
    return (
      (typeof code === 'string' && Object.hasOwn(NO_CREDIT_ADVICE, code)
        ? NO_CREDIT_ADVICE[code]
        : undefined) ?? 'Add credit with "parkway topup" or "parkway redeem", or ask the operator.'
    )
  if (status === 429 && retryAfterS !== null)
    return `Try again in ${retryAfterS} s, or let the command wait with --wait.`
  if (status === 503 && retryAfterS !== null) return `Try again in ${retryAfterS} s.`
  return null
}

function readSeconds(text: string | null): number | null {
  const seconds = Number(text)
  return text === null || !Number.isFinite(seconds) || seconds < 0 ? null : Math.ceil(seconds)
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
