import { AppError } from '../../kernel/app-error.ts'

/** Why a sign-in with a provider failed, as the sign-in page tells it. */
const SIGN_IN_PROBLEMS = {
  cancelled: 'You cancelled the sign-in.',
  begin_again: 'This sign-in took too long, was begun in another window, or has been used. Begin it again.',
  provider_unreachable: 'The company’s sign-in does not answer at the moment. Try again in a minute.',
  provider_refused: 'The company’s sign-in refused this gateway. Tell your administrator.',
  invalid_answer:
    'The answer of the company’s sign-in could not be trusted, so it was not used. Tell your administrator.',
  no_email: 'The company’s sign-in did not tell your e-mail address. Tell your administrator.',
  unverified_email: 'The company’s sign-in has not verified your e-mail address.',
  foreign_domain: 'Addresses of this domain cannot sign in here.',
  deactivated: 'You are deactivated here. Ask your administrator.',
  method_refused: 'This account does not let people in with the company’s sign-in. Sign in in another way.',
  no_account:
    'No account is open to you with this sign-in. Ask for an invitation, or sign in the way you did before.',
  other_person: 'You signed in as somebody else. Confirm with the same person.',
  not_fresh: 'The company’s sign-in did not ask you to sign in again. Confirm in another way.',
  session_ended: 'Your session has ended. Sign in again.',
  too_many: 'Too many sign-ins failed from your network. Try again in a minute.',
} as const

export type SignInProblemReason = keyof typeof SIGN_IN_PROBLEMS

/** These are tried by whoever guesses or replays, so they count like wrong keys. */
const COUNTED: ReadonlySet<SignInProblemReason> = new Set([
  'begin_again',
  'provider_refused',
  'invalid_answer',
])

interface SignInProblemOptions {
  /** For operators and the log: what exactly was wrong. Never secrets. */
  readonly detail?: string
  readonly cause?: unknown
  /** Where it failed, if that is known: there it is in the audit log. */
  readonly accountId?: string
  readonly userId?: string
}

/** A sign-in that failed for a reason that the person may read. */
export class SignInProblem extends AppError {
  readonly reason: SignInProblemReason
  readonly detail: string
  readonly accountId: string | null
  readonly userId: string | null

  constructor(reason: SignInProblemReason, { detail, cause, accountId, userId }: SignInProblemOptions = {}) {
    super(COUNTED.has(reason) ? 'invalid_sign_in_code' : 'forbidden', SIGN_IN_PROBLEMS[reason], { cause })
    this.reason = reason
    this.detail = detail ?? SIGN_IN_PROBLEMS[reason]
    this.accountId = accountId ?? null
    this.userId = userId ?? null
  }
}
