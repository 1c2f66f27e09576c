import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import {
  PRIORITY_MAX,
  SETTINGS_BYTES_MAX,
  type ManagedSettings,
  type SettingsPolicy,
} from '../../../modules/managed-settings/managed-settings.ts'
import { nullable, orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { deletedAnswer } from './organization-list.ts'
import { pathId } from './own-project.ts'
import { UserParams } from './users.ts'

const SettingsJson = Type.Record(Type.String(), Type.Unknown(), {
  description: `The members of Claude Code's \`managed-settings.json\`. At most ${SETTINGS_BYTES_MAX / 1024} KiB.`,
})

const PolicyAnswer = Type.Object(
  {
    object: objectName('organization.managed_settings'),
    id: Id,
    group_id: orNull(
      Type.String(),
      'The group that it is for: `group_…`. Null for everybody in the account.',
    ),
    priority: Type.Integer({ description: 'Among groups: 1 decides. Everybody’s is below all groups.' }),
    settings: SettingsJson,
    updated_at: Type.String({ format: 'date-time', description: 'When it was set.' }),
  },
  { title: 'ManagedSettings' },
)

const ListAnswer = Type.Object(
  {
    object: objectName('list'),
    data: Type.Array(PolicyAnswer, {
      description: 'Everybody’s first, then those of groups, the one that decides first.',
    }),
  },
  { title: 'ManagedSettingsList' },
)

const PreviewAnswer = Type.Object(
  {
    object: objectName('organization.user.managed_settings'),
    user_id: Type.String({ description: 'The id of the person.' }),
    settings: orNull(SettingsJson, 'What agents of the person get. Null where there is no policy for them.'),
    managed_settings_ids: Type.Array(Type.String({ description: 'Of managed settings: `settings_…`.' }), {
      description: 'Which were put over each other, in this order: the last one decides.',
    }),
  },
  { title: 'UserManagedSettings' },
)

const PolicyBody = Type.Object(
  {
    group_id: nullable(
      Type.String({ maxLength: 100 }),
      'The group whose members get it. Null or absent for everybody in the account.',
    ),
    priority: nullable(
      Type.Integer({ minimum: 1, maximum: PRIORITY_MAX }),
      'Among groups: 1 decides. 100 unless told, or what it was.',
    ),
    settings: SettingsJson,
  },
  {
    additionalProperties: false,
    examples: [{ settings: { permissions: { deny: ['WebFetch', 'Read(./.env)'] } } }],
  },
)

const PolicyParams = Type.Object({
  managed_settings_id: Type.String({ maxLength: 100, description: 'Its id: `settings_…`.' }),
})

/** The settings come beside names and quotes, and may be written with spaces. */
const BODY_BYTES_MAX = 4 * SETTINGS_BYTES_MAX
const AT = '/v1/organization/managed_settings'
const shared = { tag: 'Organization' } as const

export const managedSettingsRoutes = ({ managedSettings }: { managedSettings: ManagedSettings }): Route[] => [
  defineRoute({
    ...shared,
    method: 'GET',
    path: AT,
    access: inAccount('organization.read'),
    summary: 'List managed settings',
    responses: { 200: { description: 'All of the account.', schema: ListAnswer } },
    handle: async ({ caller }) => ({
      object: 'list',
      data: (await managedSettings.list(caller.accountId)).map(toWire),
    }),
  }),
  defineRoute({
    ...shared,
    method: 'GET',
    path: '/v1/organization/users/:user_id/managed_settings',
    access: inAccount('organization.read'),
    summary: 'Preview the managed settings of a user',
    params: UserParams,
    responses: { 200: { description: 'What the agents of the person get now.', schema: PreviewAnswer } },
    handle: async ({ caller, params }) => {
      const userId = pathId('user', params.user_id)
      return previewToWire(userId, await managedSettings.preview(caller.accountId, userId))
    },
  }),
  defineRoute({
    ...shared,
    method: 'POST',
    path: AT,
    access: inAccount('projects.manage'),
    // They can run programs on the machines of everybody who signs in.
    needsConfirmation: true,
    summary: 'Set managed settings',
    otherErrors: [404],
    body: PolicyBody,
    bodyLimitBytes: BODY_BYTES_MAX,
    responses: { 200: { description: 'What agents get from now on.', schema: PolicyAnswer } },
    handle: async ({ caller, body }) => {
      const groupId = body.group_id ? pathId('group', body.group_id) : null
      const { settings, priority } = body
      return toWire(await managedSettings.set(caller, { groupId, settings, priority: priority ?? undefined }))
    },
  }),
  defineRoute({
    ...shared,
    method: 'DELETE',
    path: `${AT}/:managed_settings_id`,
    access: inAccount('projects.manage'),
    needsConfirmation: true,
    summary: 'Delete managed settings',
    params: PolicyParams,
    responses: {
      200: {
        description: 'Agents no longer get them.',
        schema: deletedAnswer('organization.managed_settings.deleted'),
      },
    },
    handle: async ({ caller, params }) => {
      const id = parseWireId('managedSettings', params.managed_settings_id)
      if (id === null) throw notFound('managed settings')
      await managedSettings.delete(caller, id)
      return {
        object: 'organization.managed_settings.deleted',
        id: wireId('managedSettings', id),
        deleted: true,
      }
    },
  }),
]

function previewToWire(
  userId: string,
  { served, policyIds }: Awaited<ReturnType<ManagedSettings['preview']>>,
): Static<typeof PreviewAnswer> {
  return {
    object: 'organization.user.managed_settings',
    user_id: wireId('user', userId),
    settings: served === null ? null : { ...served.settings },
    managed_settings_ids: policyIds.map((id) => wireId('managedSettings', id)),
  }
}

function toWire(policy: SettingsPolicy): Static<typeof PolicyAnswer> {
  return {
    object: 'organization.managed_settings',
    id: wireId('managedSettings', policy.id),
    group_id: policy.groupId === null ? null : wireId('group', policy.groupId),
    priority: policy.priority,
    settings: { ...policy.settings },
    updated_at: toTimestamp(policy.updatedAtMs),
  }
}
