import type { UnauthenticatedGuard } from '../../http/connections/guard-unauthenticated.ts'
import type { Route } from '../../http/route.ts'
import { acceptInviteRoutes } from '../../http/routes/account/accept-invite.ts'
import { currentSessionRoutes } from '../../http/routes/account/current-session.ts'
import { passkeySignInRoutes } from '../../http/routes/account/passkey-sign-in.ts'
import { passkeyRoutes } from '../../http/routes/account/passkeys.ts'
import { sessionRoutes } from '../../http/routes/account/sessions.ts'
import { signInPolicyRoutes } from '../../http/routes/organization/sign-in-policy.ts'
import { signInMethodRoutes, type SignInProvider } from '../../http/routes/account/sign-in-methods.ts'
import type { Accounts } from '../../modules/accounts/accounts.ts'
import type { Passkeys } from '../../modules/passkeys/passkeys.ts'
import type { LinkMails, People } from '../../modules/people/people.ts'
import type { Projects } from '../../modules/projects/projects.ts'
import type { Sessions } from '../../modules/sessions/sessions.ts'

/** The ways in. */
export interface SignInParts {
  readonly passkeys: Passkeys
  readonly mails: LinkMails
  readonly listSignInProviders: () => Promise<readonly SignInProvider[]>
  readonly publicUrl: string | null
}

interface SignInRouteParts {
  readonly signIn: SignInParts
  readonly sessions: Sessions
  readonly accounts: Accounts
  readonly people: People
  readonly projects: Projects
  readonly guard: Pick<UnauthenticatedGuard, 'authenticateKey' | 'countSignIn' | 'addressOf' | 'admitVisitor'>
}

/** The routes with which people come in, and see where they are signed in. */
export function buildSignInRoutes({ signIn, ...parts }: SignInRouteParts): Route[] {
  return [
    ...signInMethodRoutes(signIn),
    ...signInPolicyRoutes({ sessions: parts.sessions }),
    ...sessionRoutes({ ...parts, publicUrl: signIn.publicUrl }),
    ...passkeySignInRoutes({ ...signIn, guard: parts.guard }),
    ...passkeyRoutes(signIn),
    ...currentSessionRoutes({ ...signIn, ...parts }),
    ...acceptInviteRoutes({ ...signIn, ...parts }),
  ]
}
