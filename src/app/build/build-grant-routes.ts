import type { UnauthenticatedGuard } from '../../http/connections/guard-unauthenticated.ts'
import type { Route } from '../../http/route.ts'
import { deviceAuthorizationRoutes } from '../../http/routes/account/device-authorizations.ts'
import { grantRoutes } from '../../http/routes/account/grants.ts'
import { deviceCodeRoutes } from '../../http/routes/oauth/device-code.ts'
import { oauthMetadataRoutes } from '../../http/routes/oauth/oauth-metadata.ts'
import { tokenRoutes } from '../../http/routes/oauth/token.ts'
import { createGrants } from '../../modules/grants/grants.ts'
import type { Trust } from '../../modules/trust/trust.ts'
import { buildGrantTypes } from './build-grant-types.ts'
import type { Modules } from './build-modules.ts'

interface GrantRouteParts {
  readonly modules: Pick<Modules, 'database' | 'clock' | 'keys'>
  readonly trust: Trust
  readonly guard: Pick<UnauthenticatedGuard, 'countSignIn' | 'addressOf' | 'admitVisitor'>
  readonly publicUrl: string | null
}

/** The routes with which tools are signed in. */
export function buildGrantRoutes({ modules, trust, guard, publicUrl }: GrantRouteParts): Route[] {
  const grants = createGrants(modules)
  const grantTypes = buildGrantTypes({ grants, trust })
  return [
    ...oauthMetadataRoutes({ grants, grantTypes: [...grantTypes.keys()], publicUrl }),
    ...deviceCodeRoutes({ grants, guard, publicUrl }),
    ...tokenRoutes({ grantTypes, guard }),
    ...deviceAuthorizationRoutes({ grants, guard }),
    ...grantRoutes({ grants }),
  ]
}
