import type { UnauthenticatedGuard } from '../../http/connections/guard-unauthenticated.ts'
import type { Route } from '../../http/route.ts'
import { scimTokenRoutes } from '../../http/routes/organization/scim-tokens.ts'
import { scimStateRoutes } from '../../http/routes/organization/scim-state.ts'
import { scimDiscoveryRoutes } from '../../http/routes/scim/scim-discovery.ts'
import { scimGroupRoutes } from '../../http/routes/scim/scim-groups.ts'
import { scimUserRoutes } from '../../http/routes/scim/scim-users.ts'
import { createScim } from '../../modules/scim/scim.ts'
import type { Modules } from './build-modules.ts'

interface ScimParts {
  readonly modules: Pick<Modules, 'database' | 'clock' | 'keys'>
  readonly guard: Pick<UnauthenticatedGuard, 'countSignIn' | 'addressOf'>
  readonly publicUrl: string | null
}

/** Builds what a company's directory writes, and the routes on its tokens. */
export function buildScimRoutes({ modules, guard, publicUrl }: ScimParts): Route[] {
  const { database, clock, keys } = modules
  const scim = createScim({ database, clock, keys })
  const served = { scim, guard, publicUrl }
  return [
    ...scimTokenRoutes({ scim, clock }),
    ...scimStateRoutes({ scim, publicUrl }),
    ...scimUserRoutes(served),
    ...scimGroupRoutes(served),
    ...scimDiscoveryRoutes(served),
  ]
}
