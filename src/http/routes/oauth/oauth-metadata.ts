import { Type } from 'typebox'
import type { Grants } from '../../../modules/grants/grants.ts'
import { oauthWire } from '../../../wires/oauth/oauth-wire.ts'
import { NO_KEY } from '../../access.ts'
import { publicUrlOf } from '../../parameters/public-url-of.ts'
import { defineRoute, type Route } from '../../route.ts'
import { DEVICE_CODE_GRANT } from './token.ts'

interface MetadataOptions {
  readonly grants: Pick<Grants, 'hasPeople'>
  /** The values of `grant_type`. */
  readonly grantTypes: readonly string[]
  readonly publicUrl: string | null
}

const Url = (description: string) => Type.String({ format: 'uri', description })
const Names = (description: string) => Type.Array(Type.String(), { description })

const MetadataAnswer = Type.Object(
  {
    issuer: Url('The address of this gateway.'),
    token_endpoint: Url('Where tokens come from.'),
    device_authorization_endpoint: Type.Optional(
      Url('Where a tool asks to be signed in. Absent while no account has people who could approve it.'),
    ),
    revocation_endpoint: Url('Where a token is revoked.'),
    grant_types_supported: Names('The values of `grant_type`.'),
    response_types_supported: Names('None: there is no authorization endpoint.'),
    token_endpoint_auth_methods_supported: Names('`none`: clients are public and have no secrets.'),
    revocation_endpoint_auth_methods_supported: Names('`none`.'),
  },
  { title: 'AuthorizationServer' },
)

/** The metadata of RFC 8414, by which clients find the other routes. */
export const oauthMetadataRoutes = ({ grants, grantTypes, publicUrl }: MetadataOptions): Route[] => [
  defineRoute({
    tag: 'OAuth',
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    summary: 'Describe the authorization server',
    access: NO_KEY,
    wire: oauthWire,
    otherErrors: [503],
    responses: { 200: { description: 'The routes and what they take.', schema: MetadataAnswer } },
    handle: async (request) => {
      const issuer = publicUrlOf(request, publicUrl)
      const hasPeople = await grants.hasPeople()
      return {
        issuer,
        token_endpoint: `${issuer}/oauth/token`,
        ...(hasPeople && { device_authorization_endpoint: `${issuer}/oauth/device_authorization` }),
        revocation_endpoint: `${issuer}/oauth/revoke`,
        grant_types_supported: grantTypes.filter((name) => hasPeople || name !== DEVICE_CODE_GRANT),
        response_types_supported: [],
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint_auth_methods_supported: ['none'],
      }
    },
  }),
]
