import { Type, type Static } from 'typebox'
import type { Scim, ScimState } from '../../../modules/scim/scim.ts'
import { orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { scimBaseUrl } from '../scim/scim-route.ts'
import { unixSeconds } from './organization-list.ts'

const FailureAnswer = Type.Object({
  id: Id,
  token_id: Type.String({ description: 'The id of the token that the directory sent.' }),
  method: Type.String({ description: 'Of the request.' }),
  path: Type.String({ description: 'Of the request, without its query.' }),
  status: Type.Integer({ description: 'Of the answer.' }),
  detail: Type.String({ description: 'What was wrong, for people.' }),
  created_at: Type.Integer({ description: 'In seconds.' }),
})

const StateAnswer = Type.Object(
  {
    object: objectName('organization.scim'),
    base_url: Type.String({ description: 'What the directory is given as the base URL of the tenant.' }),
    users: Type.Integer({ description: 'How many people a directory manages.' }),
    suspended_users: Type.Integer({ description: 'How many of them it has deactivated.' }),
    groups: Type.Integer({ description: 'How many groups a directory manages.' }),
    last_sync_at: orNull(
      Type.Integer(),
      'When a directory last wrote or read, in seconds, exact to the minute.',
    ),
    has_owner: Type.Boolean({ description: 'Whether an active member has the role `owner`.' }),
    failures: Type.Array(FailureAnswer, {
      description: 'The last writes that were refused, the newest first.',
    }),
  },
  { title: 'ScimState' },
)

interface ScimStateParts {
  readonly scim: Pick<Scim, 'failures'>
  readonly publicUrl: string | null
}

export const scimStateRoutes = ({ scim, publicUrl }: ScimStateParts): Route[] => [
  defineRoute({
    tag: 'Organization',
    method: 'GET',
    path: '/v1/organization/scim',
    access: inAccount('members.manage'),
    summary: 'Read the state of directory sync',
    responses: {
      200: { description: 'What a directory has written, and what it could not.', schema: StateAnswer },
    },
    handle: async (request) =>
      stateToWire(await scim.failures.readState(request.caller.accountId), scimBaseUrl(request, publicUrl)),
  }),
]

function stateToWire(state: ScimState, baseUrl: string): Static<typeof StateAnswer> {
  return {
    object: 'organization.scim',
    base_url: baseUrl,
    users: state.users,
    suspended_users: state.suspendedUsers,
    groups: state.groups,
    last_sync_at: state.lastUsedAtMs === null ? null : unixSeconds(state.lastUsedAtMs),
    has_owner: state.hasOwner,
    failures: state.failures.map(({ tokenId, createdAtMs, ...failure }) => ({
      ...failure,
      token_id: wireId('scimToken', tokenId),
      created_at: unixSeconds(createdAtMs),
    })),
  }
}
