/** What went wrong at the directory of the company, by the reason that its answer brought. */
const PROBLEMS: Readonly<Record<string, string>> = {
  cancelled: 'You cancelled the sign-in.',
  begin_again:
    'This sign-in took too long, was begun in another window, or was used already. Begin it again.',
  provider_unreachable: 'Your company’s sign-in does not answer at the moment. Try again in a minute.',
  provider_refused: 'Your company’s sign-in refused this gateway. Tell your administrator.',
  invalid_answer:
    'The answer of your company’s sign-in could not be trusted, so it was not used. Tell your administrator.',
  no_email: 'Your company’s sign-in did not tell your e-mail address. Tell your administrator.',
  unverified_email: 'Your company’s sign-in has not verified your e-mail address.',
  foreign_domain: 'Addresses of this domain cannot sign in here.',
  deactivated: 'You are deactivated here. Ask your administrator.',
  method_refused: 'This account does not let people in with your company’s sign-in. Sign in in another way.',
  no_account:
    'No account is open to you with this sign-in. Ask for an invitation, or sign in the way you did before.',
  other_person: 'You signed in as somebody else. Use the sign-in of the same person.',
  not_fresh:
    'Your company’s sign-in did not ask you to sign in again. Use another way to prove that it is you.',
  session_ended: 'Your session has ended. Sign in again.',
  too_many: 'Too many sign-ins failed from your network. Try again in a minute.',
}

/** Only texts of ours are shown: the address of the page can be written by anybody. */
export function describeProblem(reason: string | undefined): string | null {
  if (reason === undefined) return null
  return PROBLEMS[reason] ?? 'The sign-in at your company did not work. Try again, or use another way.'
}
