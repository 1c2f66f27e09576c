import { Type, type Static } from 'typebox'
import type { Group, Groups } from '../../../modules/groups/groups.ts'
import { described } from '../../../wires/described.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { Id } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { Name } from '../account/api-key-wire.ts'
import {
  deletedAnswer,
  orderedList,
  OrderedListQuery,
  orderedListOf,
  readOrderedPage,
  unixSeconds,
} from './organization-list.ts'
import { pathId } from './own-project.ts'

export const GroupType = Type.Literal('group', {
  description: 'Always `group`: no group spans several accounts.',
})

const GroupAnswer = Type.Object(
  {
    id: Id,
    name: Type.String({ description: 'The name that people gave it.' }),
    directory_name: orNull(
      Type.String(),
      'What the directory of the company calls it: whoever has it there is in this group after their next sign-in. Null: no directory manages it.',
    ),
    created_at: Type.Integer({ description: 'In seconds.' }),
    is_scim_managed: Type.Boolean({
      description: 'Whether a directory says its name and its members, by SCIM.',
    }),
    group_type: GroupType,
  },
  { title: 'Group' },
)

const GroupBody = Type.Object(
  {
    name: described(
      Name,
      'A name for people, without control characters. No other group of the account has it.',
    ),
    directory_name: nullable(
      Type.String({ minLength: 1, maxLength: 256 }),
      'What the directory of the company calls it. Null: nothing. Absent in an update: as it is.',
    ),
  },
  { additionalProperties: false, examples: [{ name: 'Engineers' }] },
)

export const GroupParams = Type.Object({
  group_id: Type.String({ maxLength: 100, description: 'The id of a group: `group_…`.' }),
})

const shared = { tag: 'Organization' } as const

export const organizationGroupRoutes = ({ groups }: { groups: Groups }): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/organization/groups',
    access: inAccount('organization.read'),
    summary: 'List groups',
    query: OrderedListQuery,
    responses: {
      200: { description: 'The groups of the account.', schema: orderedList('GroupList', GroupAnswer) },
    },
    handle: async ({ caller, query }) => {
      const page = await groups.list(caller.accountId, readOrderedPage('group', query))
      return orderedListOf(page, groupToWire, ({ id }) => wireId('group', id))
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/organization/groups',
    access: inAccount('members.manage'),
    summary: 'Create a group',
    body: GroupBody,
    responses: { 200: { description: 'The group, with nobody in it.', schema: GroupAnswer } },
    handle: async ({ caller, body }) => {
      return groupToWire(await groups.create(caller, body.name, body.directory_name))
    },
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/organization/groups/:group_id',
    access: inAccount('organization.read'),
    summary: 'Read a group',
    params: GroupParams,
    responses: { 200: { description: 'The group.', schema: GroupAnswer } },
    handle: async ({ caller, params }) =>
      groupToWire(await groups.read(caller.accountId, pathId('group', params.group_id))),
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: '/v1/organization/groups/:group_id',
    access: inAccount('members.manage'),
    summary: 'Rename a group',
    params: GroupParams,
    body: GroupBody,
    responses: { 200: { description: 'The group with its new name.', schema: GroupAnswer } },
    handle: async ({ caller, params, body }) => {
      const id = pathId('group', params.group_id)
      return groupToWire(await groups.rename(caller, id, body.name, body.directory_name))
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: '/v1/organization/groups/:group_id',
    access: inAccount('members.manage'),
    summary: 'Delete a group',
    params: GroupParams,
    responses: {
      200: {
        description: 'Its members have lost what they had by the group, on every process.',
        schema: deletedAnswer('group.deleted'),
      },
    },
    handle: async ({ caller, params }) => {
      const id = pathId('group', params.group_id)
      await groups.delete(caller, id)
      return { object: 'group.deleted', id: wireId('group', id), deleted: true }
    },
  }),
]

function groupToWire(group: Group): Static<typeof GroupAnswer> {
  return {
    id: wireId('group', group.id),
    name: group.name,
    directory_name: group.directoryName,
    created_at: unixSeconds(group.createdAtMs),
    is_scim_managed: group.isScimManaged,
    group_type: 'group',
  }
}
