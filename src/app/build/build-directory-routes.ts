import type { UnauthenticatedGuard } from '../../http/connections/guard-unauthenticated.ts'
import type { Route } from '../../http/route.ts'
import { directoryLogoutRoutes } from '../../http/routes/account/directory-logout.ts'
import { directorySignInRoutes } from '../../http/routes/account/directory-sign-in.ts'
import { identityRoutes } from '../../http/routes/account/identities.ts'
import type { SignInProvider } from '../../http/routes/account/sign-in-methods.ts'
import { adminIdentityProviderRoutes } from '../../http/routes/operator/admin-identity-providers.ts'
import type { Audit } from '../../modules/audit/audit.ts'
import type { Directory } from '../../modules/directory/directory.ts'
import type { Sessions } from '../../modules/sessions/sessions.ts'

interface DirectoryParts {
  readonly directory: Directory
  readonly sessions: Sessions
  readonly audit: Audit
  readonly guard: Pick<UnauthenticatedGuard, 'countSignIn' | 'addressOf'>
  readonly publicUrl: string | null
}

/** Returns the buttons of the sign-in page. */
export async function findSignInProviders(directory: Directory): Promise<SignInProvider[]> {
  const providers = await directory.listSignInProviders()
  return providers.map(({ id, name }) => ({ id, name, url: `/v1/sessions/directory/${id}/start` }))
}

/** The routes of signing in with the directory of a company. */
export function buildDirectoryRoutes(parts: DirectoryParts): Route[] {
  return [
    ...directorySignInRoutes(parts),
    ...directoryLogoutRoutes(parts),
    ...identityRoutes(parts),
    ...adminIdentityProviderRoutes(parts),
  ]
}
