import { AppError } from '../../kernel/app-error.ts'

/** The same for a wrong, foreign, used or revoked code or token, so that it tells nothing about others. */
export function invalidGrant(message: string): AppError {
  return new AppError('invalid_grant', message)
}

/** The same for a used, wrong or revoked refresh token. Clients such as Claude Code let the person sign in again after a 401 only. */
export function invalidRefreshToken(message: string): AppError {
  return new AppError('invalid_refresh_token', message)
}

/** The tool is signed in, and its person may not use the account. */
export function signInEnded(cause: unknown): AppError {
  const message = 'The person that this tool was signed in for may not use the account any more.'
  return new AppError('sign_in_ended', message, { cause })
}

export function invalidUserCode(): AppError {
  return new AppError(
    'invalid_user_code',
    'No tool waits for this code. It may be mistyped, used, or older than ten minutes: start the sign-in on the device again.',
    { param: 'user_code' },
  )
}
