import { Type, type Static } from 'typebox'
import type { GroupMember, Groups } from '../../../modules/groups/groups.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { GroupParams } from './groups.ts'
import { orderedList, OrderedListQuery, orderedListOf, readOrderedPage } from './organization-list.ts'
import { pathId } from './own-project.ts'

const members = {
  id: Id,
  name: Type.String({ description: 'As the person is called in this account. Empty if nobody said.' }),
  email: Type.String({ description: 'The e-mail address of the person.' }),
  is_scim_managed: Type.Boolean({
    description:
      'Whether a directory put the person into the group, by SCIM: only the directory takes them out.',
  }),
}
const GroupUserAnswer = Type.Object(members, { title: 'GroupUser' })

const GroupUserDetails = Type.Object(
  {
    ...members,
    picture: Type.Null({ description: 'Always null: there are no pictures.' }),
    is_service_account: Type.Literal(false, { description: 'Always false: only people are in groups.' }),
    user_type: Type.Literal('user', { description: 'Always `user`.' }),
  },
  { title: 'GroupUserDetails' },
)

const AddedAnswer = Type.Object({
  object: objectName('group.user'),
  user_id: Type.String({ description: 'The id of the person.' }),
  group_id: Type.String({ description: 'The id of the group.' }),
})

const RemovedAnswer = Type.Object({
  object: objectName('group.user.deleted'),
  deleted: Type.Literal(true, { description: 'Whether the person is out of the group now.' }),
})

const AddBody = Type.Object(
  { user_id: Type.String({ maxLength: 100, description: 'The id of a member of the account: `user-…`.' }) },
  { additionalProperties: false, examples: [{ user_id: 'user-01a1effe44cd71a0b8674dcb5b644571' }] },
)

const UserParams = Type.Object({
  ...GroupParams.properties,
  user_id: Type.String({ maxLength: 100, description: 'The id of a person: `user-…`.' }),
})

const shared = { tag: 'Organization' } as const
const AT = '/v1/organization/groups/:group_id/users'

export const groupUserRoutes = ({ groups }: { groups: Groups }): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: AT,
    access: inAccount('organization.read'),
    summary: 'List the users of a group',
    params: GroupParams,
    query: OrderedListQuery,
    responses: {
      200: { description: 'The people in the group.', schema: orderedList('GroupUserList', GroupUserAnswer) },
    },
    handle: async ({ caller, params, query }) => {
      const groupId = pathId('group', params.group_id)
      const page = readOrderedPage('user', query)
      return orderedListOf(
        await groups.members.list(caller.accountId, groupId, page),
        memberToWire,
        ({ id }) => wireId('user', id),
      )
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: AT,
    access: inAccount('members.manage'),
    summary: 'Add a user to a group',
    params: GroupParams,
    body: AddBody,
    responses: { 200: { description: 'The person has what the group has.', schema: AddedAnswer } },
    handle: async ({ caller, params, body }) => {
      const groupId = pathId('group', params.group_id)
      const userId = pathId('user', body.user_id)
      await groups.members.add({ caller, groupId }, userId)
      return { object: 'group.user', user_id: wireId('user', userId), group_id: wireId('group', groupId) }
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: `${AT}/:user_id`,
    access: inAccount('organization.read'),
    summary: 'Read a user of a group',
    params: UserParams,
    responses: { 200: { description: 'The person in the group.', schema: GroupUserDetails } },
    handle: async ({ caller, params }) => {
      const groupId = pathId('group', params.group_id)
      const userId = pathId('user', params.user_id)
      const member = await groups.members.read(caller.accountId, groupId, userId)
      return { ...memberToWire(member), picture: null, is_service_account: false, user_type: 'user' }
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${AT}/:user_id`,
    access: inAccount('members.manage'),
    summary: 'Remove a user from a group',
    params: UserParams,
    responses: {
      200: {
        description: 'The person has lost what they had by the group, on every process.',
        schema: RemovedAnswer,
      },
    },
    handle: async ({ caller, params }) => {
      const groupId = pathId('group', params.group_id)
      await groups.members.remove({ caller, groupId }, pathId('user', params.user_id))
      return { object: 'group.user.deleted', deleted: true }
    },
  }),
]

function memberToWire({ id, name, email, isScimManaged }: GroupMember): Static<typeof GroupUserAnswer> {
  return { id: wireId('user', id), name: name ?? '', email, is_scim_managed: isScimManaged }
}
