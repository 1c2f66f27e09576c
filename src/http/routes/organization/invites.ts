import { Type, type Static } from 'typebox'
import { notFound } from '../../../kernel/app-error.ts'
import { ACCOUNT_ROLES, type Invite, type People } from '../../../modules/people/people.ts'
import { PROJECT_ROLES } from '../../../modules/projects/projects.ts'
import { described } from '../../../wires/described.ts'
import { orNull } from '../../../wires/nullable.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { Id, objectName } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { DeliveredLink, Delivery, type DeliverLink } from './deliver-link.ts'
import {
  deletedAnswer,
  listOf,
  organizationList,
  OrganizationListQuery,
  readPage,
  unixSeconds,
} from './organization-list.ts'
import { pathId } from './own-project.ts'
import { AccountRole } from './users.ts'

const PROJECTS_MAX = 100

const Email = Type.String({
  minLength: 3,
  maxLength: 320,
  pattern: '^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$',
  description: 'The e-mail address of the person.',
})

const InvitedProject = Type.Object({
  id: Type.String({ maxLength: 100, description: 'The id of a project: `proj_…`.' }),
  role: Type.Enum([...PROJECT_ROLES], { description: 'The role in the project.' }),
})

const InviteBody = Type.Object(
  {
    email: Email,
    role: described(AccountRole, 'The role in the account.'),
    projects: Type.Optional(
      Type.Array(InvitedProject, {
        maxItems: PROJECTS_MAX,
        description: 'The projects to add the person to.',
      }),
    ),
    delivery: Delivery,
  },
  { additionalProperties: false, examples: [{ email: 'grace@example.com', role: 'reader' }] },
)

const members = {
  object: objectName('organization.invite'),
  id: Id,
  email: Type.String({ description: 'The e-mail address of the person.' }),
  role: Type.Enum([...ACCOUNT_ROLES], { description: 'The role in the account.' }),
  status: Type.Enum(['accepted', 'expired', 'pending'], { description: 'Whether somebody has answered it.' }),
  created_at: Type.Integer({ description: 'In seconds.' }),
  invited_at: Type.Integer({ description: 'The same as `created_at`.' }),
  expires_at: Type.Integer({ description: 'In seconds. The link works until then.' }),
  accepted_at: orNull(Type.Integer(), 'In seconds. Null while nobody has accepted it.'),
  projects: Type.Array(
    Type.Object({ id: Id, role: Type.String({ description: 'The role in the project.' }) }),
    { description: 'The projects that the person is added to.' },
  ),
}
const InviteAnswer = Type.Object(members, { title: 'Invite' })

const CreatedAnswer = Type.Object(
  {
    ...members,
    ...DeliveredLink,
    code: orNull(
      Type.String(),
      'What accepts the invitation. It works once and is shown only here. Null if it was mailed.',
    ),
  },
  { title: 'CreatedInvite' },
)

const InviteParams = Type.Object({
  invite_id: Type.String({ maxLength: 100, description: 'The id of an invitation: `invite-…`.' }),
})

const shared = { tag: 'Organization' } as const

export const organizationInviteRoutes = ({
  people: { invites },
  deliverLink,
}: {
  people: People
  deliverLink: DeliverLink
}): Route[] => {
  const toWire = (invite: Invite): Static<typeof InviteAnswer> =>
    inviteToWire(invite, invites.isExpired(invite))
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/organization/invites',
      access: inAccount('organization.read'),
      summary: 'List invitations',
      query: OrganizationListQuery,
      responses: {
        200: {
          description: 'The invitations of the account, newest first.',
          schema: organizationList('InviteList', InviteAnswer),
        },
      },
      handle: async ({ caller, query }) =>
        listOf(await invites.list(caller.accountId, readPage('invite', query)), toWire),
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/organization/invites',
      access: inAccount('members.manage'),
      summary: 'Invite a person',
      body: InviteBody,
      responses: {
        200: {
          description:
            'The invitation and its link, shown this once. It replaces a pending one of the same address.',
          schema: CreatedAnswer,
        },
      },
      otherErrors: [404],
      handle: async ({ caller, body, headers }) => {
        const { email, role } = body
        const projects = (body.projects ?? []).map((project) => ({
          role: project.role,
          id: projectIdOf(project.id),
        }))
        const { invite, code } = await invites.create(caller, { email, role, projects })
        const { expiresAtMs } = invite
        const link = {
          accountId: caller.accountId,
          to: email,
          kind: 'invitation',
          code,
          expiresAtMs,
        } as const
        return {
          ...toWire(invite),
          ...(await deliverLink(link, { headers, delivery: body.delivery })),
        }
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/organization/invites/:invite_id',
      access: inAccount('organization.read'),
      summary: 'Read an invitation',
      params: InviteParams,
      responses: { 200: { description: 'The invitation, without its code.', schema: InviteAnswer } },
      handle: async ({ caller, params }) =>
        toWire(await invites.read(caller.accountId, pathId('invite', params.invite_id))),
    }),
    defineRoute({
      ...shared,
      method: 'DELETE',
      path: '/v1/organization/invites/:invite_id',
      access: inAccount('members.manage'),
      summary: 'Withdraw an invitation',
      params: InviteParams,
      responses: {
        200: {
          description: 'Its link does not work any more.',
          schema: deletedAnswer('organization.invite.deleted'),
        },
      },
      handle: async ({ caller, params }) => {
        const id = pathId('invite', params.invite_id)
        await invites.delete(caller, id)
        return { object: 'organization.invite.deleted', id: wireId('invite', id), deleted: true }
      },
    }),
  ]
}

function projectIdOf(text: string): string {
  const id = parseWireId('project', text)
  if (id === null) throw notFound('project')
  return id
}

function inviteToWire(invite: Invite, isExpired: boolean): Static<typeof InviteAnswer> {
  const { acceptedAtMs } = invite
  const createdAt = unixSeconds(invite.createdAtMs)
  return {
    object: 'organization.invite',
    id: wireId('invite', invite.id),
    email: invite.email,
    role: ACCOUNT_ROLES.find((role) => role === invite.role) ?? 'reader',
    status: acceptedAtMs !== null ? 'accepted' : isExpired ? 'expired' : 'pending',
    created_at: createdAt,
    invited_at: createdAt,
    expires_at: unixSeconds(invite.expiresAtMs),
    accepted_at: acceptedAtMs === null ? null : unixSeconds(acceptedAtMs),
    projects: invite.projects.map(({ id, role }) => ({ id: wireId('project', id), role })),
  }
}
