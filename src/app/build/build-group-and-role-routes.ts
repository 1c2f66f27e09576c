import type { Route } from '../../http/route.ts'
import { groupUserRoutes } from '../../http/routes/organization/group-users.ts'
import { organizationGroupRoutes } from '../../http/routes/organization/groups.ts'
import { projectGroupRoutes } from '../../http/routes/organization/project-groups.ts'
import { roleAssignmentRoutes } from '../../http/routes/organization/role-assignments.ts'
import { roleRoutes } from '../../http/routes/organization/roles.ts'
import type { Groups } from '../../modules/groups/groups.ts'
import type { People } from '../../modules/people/people.ts'
import type { Roles } from '../../modules/roles/roles.ts'

/** Builds the routes on groups and roles, and on who has which. */
export function buildGroupAndRoleRoutes({
  groups,
  roles,
  people,
}: {
  groups: Groups
  roles: Roles
  people: People
}): Route[] {
  return [
    ...organizationGroupRoutes({ groups }),
    ...groupUserRoutes({ groups }),
    ...projectGroupRoutes({ groups }),
    ...roleRoutes({ roles }),
    ...roleAssignmentRoutes({ roles, people, groups }),
  ]
}
