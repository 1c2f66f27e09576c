import { Type } from 'typebox'
import { PERMISSIONS } from '../../../modules/keys/keys.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const PermissionsAnswer = Type.Object({
  object: objectName('permissions'),
  permissions: Type.Array(Type.Enum([...PERMISSIONS]), {
    description: 'What the key may do: what its scopes mean, bounded by the roles of its owner.',
  }),
  project_id: orNull(
    Type.String(),
    'The only project that the key sees: `proj_…`. Null for the whole account.',
  ),
  user_id: orNull(Type.String(), 'The person that the key belongs to: `user-…`.'),
  service_account_id: orNull(Type.String(), 'The service account that the key belongs to: `svc_acct_…`.'),
  group_ids: Type.Array(Type.String(), { description: 'The groups of that person: `group_…`.' }),
})

export const permissionRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/v1/tenants/me/permissions',
    summary: 'Read what the key may do',
    tag: 'Account',
    access: ANY_KEY,
    responses: { 200: { description: 'The permissions, and for whom they are.', schema: PermissionsAnswer } },
    handle: async ({ caller }) => ({
      object: 'permissions',
      permissions: PERMISSIONS.filter((permission) => caller.permissions.has(permission)),
      project_id: caller.projectId === null ? null : wireId('project', caller.projectId),
      user_id: idOrNull('user', caller.userId),
      service_account_id: idOrNull('serviceAccount', caller.serviceAccountId),
      group_ids: caller.groupIds.map((id) => wireId('group', id)),
    }),
  }),
]

function idOrNull(kind: 'user' | 'serviceAccount', id: string | null | undefined): string | null {
  return typeof id === 'string' ? wireId(kind, id) : null
}
