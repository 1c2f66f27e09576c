import { AppError } from '../../../kernel/app-error.ts'
import type { Caller } from '../authenticate/caller.ts'

/**
 * Throws for a request with an access token. Whoever tricked a person into signing in a tool of theirs must not make more of it: a key
 * that outlives the token, rights for others, or money.
 */
export function refuseAccessToken({ accessToken }: Pick<Caller, 'accessToken'>): void {
  if (accessToken === undefined) return
  throw new AppError(
    'forbidden',
    'A tool that was signed in for a person or program cannot do this: it moves money, gives rights or makes keys. Use the console, or an API key.',
  )
}
