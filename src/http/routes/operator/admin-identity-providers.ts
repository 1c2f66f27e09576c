import { Type } from 'typebox'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Directory, ProviderDraft } from '../../../modules/directory/directory.ts'
import { objectName, UuidId } from '../../../wires/usual-members.ts'
import { pickMembers } from '../../parameters/pick-members.ts'
import { ofGateway } from '../../access.ts'
import { listSchema, wholeList } from '../../answers/list-page.ts'
import { originOf } from '../../parameters/origin-of.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import {
  ChangeBody,
  CreateBody,
  ProviderAnswer,
  providerToWire,
  readSettings,
  TestAnswer,
} from './identity-provider-wire.ts'

interface IdentityProviderRouteOptions {
  readonly directory: Pick<Directory, 'providers'>
  readonly audit: Audit
  readonly publicUrl: string | null
}

const Params = Type.Object({
  id: Type.String({ maxLength: 100, description: 'The id of an identity provider.' }),
})

const DeletedAnswer = Type.Object({
  object: objectName('identity_provider.deleted'),
  id: UuidId,
  deleted: Type.Literal(true, { description: 'Whether nobody signs in with it any more.' }),
})

/** What an operator need not say: the directory lets in whom an account invited, and gives nothing by itself. */
const USUAL = {
  scopes: ['openid', 'email', 'profile'],
  groupsClaim: 'groups',
  allowedDomains: [],
  needsVerifiedEmail: true,
  accountRule: 'invited',
  accounts: [],
  makesMembers: false,
  memberRole: 'reader',
  linksMembers: false,
  operatorGroups: [],
  operatorReaderGroups: [],
  isEnabled: true,
  clientSecret: null,
} as const satisfies Omit<ProviderDraft, 'name' | 'issuer' | 'clientId'>

/** Operators manage where people sign in. */
export const adminIdentityProviderRoutes = (options: IdentityProviderRouteOptions): Route[] => {
  const { directory, audit } = options
  const { providers } = directory
  const shared = { tag: 'Operator' } as const
  const manages = { access: ofGateway('gateway.manage'), needsConfirmation: true } as const
  const target = (id: string | null) => ({ kind: 'identity_provider', id })
  const baseUrl = (request: AnyRequest): string => originOf(request, options.publicUrl)
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/admin/identity-providers',
      access: ofGateway('gateway.read'),
      summary: 'List identity providers',
      responses: {
        200: {
          description: 'In the order in which they were added.',
          schema: listSchema('providers', ProviderAnswer),
        },
      },
      handle: async (request) =>
        wholeList(
          'providers',
          (await providers.list()).map((provider) => providerToWire(provider, baseUrl(request))),
        ),
    }),
    defineRoute({
      ...shared,
      ...manages,
      method: 'POST',
      path: '/v1/admin/identity-providers',
      summary: 'Add an identity provider',
      body: CreateBody,
      otherErrors: [404],
      responses: { 201: { description: 'The provider.', schema: ProviderAnswer } },
      handle: async (request) => {
        const { caller, body, reply } = request
        const { name, issuer, client_id: clientId, client_secret: _secret, ...details } = body
        const draft: ProviderDraft = { ...USUAL, ...readSettings(body), name, issuer, clientId }
        const created = await audit.run(
          {
            actor: caller,
            action: 'identity_provider.create',
            target: target(null),
            details: { name, issuer, client_id: clientId, ...details },
          },
          () => providers.create(caller, draft),
        )
        reply.code(201)
        return providerToWire(created, baseUrl(request))
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/admin/identity-providers/:id',
      access: ofGateway('gateway.read'),
      summary: 'Read an identity provider',
      params: Params,
      responses: { 200: { description: 'The provider, without its secret.', schema: ProviderAnswer } },
      handle: async (request) => providerToWire(await providers.read(request.params.id), baseUrl(request)),
    }),
    defineRoute({
      ...shared,
      ...manages,
      method: 'PATCH',
      path: '/v1/admin/identity-providers/:id',
      summary: 'Change an identity provider',
      params: Params,
      body: ChangeBody,
      otherErrors: [404],
      responses: { 200: { description: 'The provider as it is now.', schema: ProviderAnswer } },
      handle: async (request) => {
        const { caller, body, params } = request
        const { client_secret: secret, ...others } = body
        const details =
          secret === undefined
            ? others
            : { ...others, client_secret: secret === null ? 'removed' : 'replaced' }
        const change = {
          ...readSettings(body),
          ...(body.name !== undefined && { name: body.name }),
          ...(body.client_id !== undefined && { clientId: body.client_id }),
        }
        const changed = await audit.run(
          {
            actor: caller,
            action: 'identity_provider.update',
            target: target(params.id),
            details,
            readState: async () =>
              pickMembers(
                providerToWire(await providers.read(params.id), baseUrl(request)),
                Object.keys(others),
              ),
          },
          () => providers.change(params.id, change),
        )
        return providerToWire(changed, baseUrl(request))
      },
    }),
    defineRoute({
      ...shared,
      ...manages,
      method: 'DELETE',
      path: '/v1/admin/identity-providers/:id',
      summary: 'Delete an identity provider',
      params: Params,
      responses: {
        200: {
          description: 'Its sessions have ended. The people stay members and sign in another way.',
          schema: DeletedAnswer,
        },
      },
      handle: async ({ caller, params }) => {
        const { id } = await audit.run(
          { actor: caller, action: 'identity_provider.delete', target: target(params.id) },
          async () => {
            await providers.delete(params.id)
            return { id: params.id }
          },
        )
        return { object: 'identity_provider.deleted', id, deleted: true }
      },
    }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/admin/identity-providers/:id/test',
      access: ofGateway('gateway.manage'),
      summary: 'Test an identity provider',
      params: Params,
      responses: { 200: { description: 'What is wrong with it, if anything.', schema: TestAnswer } },
      handle: async ({ params }) => {
        const { isOk, checks } = await providers.test(params.id)
        return { object: 'identity_provider.test', ok: isOk, checks: [...checks] }
      },
    }),
  ]
}

type AnyRequest = RouteRequest<unknown, unknown, unknown>
