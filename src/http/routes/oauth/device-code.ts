import { Type } from 'typebox'
import type { Grants } from '../../../modules/grants/grants.ts'
import { oauthWire } from '../../../wires/oauth/oauth-wire.ts'
import { NO_KEY } from '../../access.ts'
import { networkOf, type UnauthenticatedGuard } from '../../connections/guard-unauthenticated.ts'
import { originOf } from '../../connections/origin-of.ts'
import { publicUrlOf } from '../../parameters/public-url-of.ts'
import { defineRoute, type Route } from '../../route.ts'
import { UNNAMED_CLIENT } from './grant-types.ts'

interface DeviceCodeOptions {
  readonly grants: Pick<Grants, 'requestDeviceCode' | 'revoke'>
  readonly guard: Pick<UnauthenticatedGuard, 'admitVisitor' | 'addressOf'>
  readonly publicUrl: string | null
}

const FORM_BYTES_MAX = 4 * 1024
const ClientId = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'What the tool calls itself. It is shown to the person, and nothing is derived from it.',
})

const DeviceBody = Type.Object(
  {
    client_id: Type.Optional(ClientId),
    scope: Type.Optional(
      Type.String({
        maxLength: 1000,
        description: 'Ignored: the tool may do what the roles of the person allow.',
      }),
    ),
  },
  { examples: [{ client_id: 'my-tool' }] },
)

const DeviceAnswer = Type.Object(
  {
    device_code: Type.String({ description: 'The secret with which the tool asks for its tokens.' }),
    user_code: Type.String({ description: 'What the person types: `BCDF-GHJK`.' }),
    verification_uri: Type.String({ format: 'uri', description: 'Where the person types it.' }),
    verification_uri_complete: Type.String({
      format: 'uri',
      description: 'The same with the code. The person still has to approve it.',
    }),
    expires_in: Type.Integer({ description: 'Seconds until both codes expire.' }),
    interval: Type.Integer({ description: 'Seconds between two requests for the tokens.' }),
  },
  { title: 'DeviceCode' },
)

const RevokeBody = Type.Object(
  {
    token: Type.String({ minLength: 1, maxLength: 200, description: 'A refresh token or an access token.' }),
    token_type_hint: Type.Optional(Type.String({ maxLength: 100, description: 'Not needed.' })),
    client_id: Type.Optional(ClientId),
  },
  { examples: [{ token: 'pr-…', client_id: 'my-tool' }] },
)

/** The device authorization of RFC 8628, and the revocation of RFC 7009. */
export const deviceCodeRoutes = ({ grants, guard, publicUrl }: DeviceCodeOptions): Route[] => {
  const shared = {
    tag: 'OAuth',
    method: 'POST',
    access: NO_KEY,
    wire: oauthWire,
    takesUrlEncoded: true,
    bodyLimitBytes: FORM_BYTES_MAX,
    otherErrors: [503],
  } as const
  return [
    defineRoute({
      ...shared,
      path: '/oauth/device_authorization',
      summary: 'Ask to be signed in',
      body: DeviceBody,
      responses: { 200: { description: 'The codes.', schema: DeviceAnswer } },
      handle: async (request) => {
        const { incoming } = request.exchange
        guard.admitVisitor(incoming)
        const ipAddress = guard.addressOf(incoming)
        const { userAgent } = originOf(incoming, guard)
        const device = {
          clientId: request.body.client_id ?? UNNAMED_CLIENT,
          ipAddress,
          network: networkOf(ipAddress),
          userAgent,
        }
        const code = await grants.requestDeviceCode(device)
        const page = `${publicUrlOf(request, publicUrl)}/device`
        return {
          device_code: code.deviceCode,
          user_code: code.userCode,
          verification_uri: page,
          verification_uri_complete: `${page}?user_code=${code.userCode}`,
          expires_in: code.lifeSeconds,
          interval: code.intervalSeconds,
        }
      },
    }),
    defineRoute({
      ...shared,
      path: '/oauth/revoke',
      summary: 'Revoke a token',
      body: RevokeBody,
      responses: { 200: { description: 'It is revoked, or there was none.', schema: Type.Object({}) } },
      handle: async ({ body, exchange }) => {
        guard.admitVisitor(exchange.incoming)
        const { token, client_id: clientId = null } = body
        await grants.revoke({ token, clientId, origin: originOf(exchange.incoming, guard) })
        return {}
      },
    }),
  ]
}
