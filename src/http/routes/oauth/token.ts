import { Type, type Static } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import type { RequestOrigin } from '../../../modules/audit/audit.ts'
import { oauthWire } from '../../../wires/oauth/oauth-wire.ts'
import { NO_KEY } from '../../access.ts'
import type { UnauthenticatedGuard } from '../../connections/guard-unauthenticated.ts'
import { originOf } from '../../connections/origin-of.ts'
import { defineRoute, type Route } from '../../route.ts'

export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** What a client asks for a token with. */
export interface TokenRequest {
  /** The fields of the body. Each occurs once and has a value. */
  readonly fields: Readonly<Record<string, string>>
  readonly origin: RequestOrigin
}

export interface IssuedTokens {
  readonly accessToken: string
  readonly expiresInSeconds: number
  readonly refreshToken?: string
  /** Of the person who approved the code of a device. */
  readonly email?: string
  /** Only of an exchanged token. */
  readonly issuedTokenType?: string
}

/** One way to get a token. Throws what the client reads as an error of OAuth, such as `invalid_grant`. */
export type GrantType = (request: TokenRequest) => Promise<IssuedTokens>

interface TokenRouteOptions {
  readonly grantTypes: ReadonlyMap<string, GrantType>
  readonly guard: Pick<UnauthenticatedGuard, 'countSignIn' | 'addressOf'>
}

/** As much as a JWT with many groups needs. */
const TOKEN_BYTES_MAX = 32 * 1024

const TokenBody = Type.Object(
  {
    grant_type: Type.String({
      maxLength: 200,
      description: 'How the client proves that it may have a token.',
    }),
  },
  {
    examples: [
      { grant_type: DEVICE_CODE_GRANT, device_code: 'pd-…', client_id: 'my-tool' },
      { grant_type: 'refresh_token', refresh_token: 'pr-…', client_id: 'my-tool' },
    ],
  },
)

const TokenAnswer = Type.Object(
  {
    access_token: Type.String({ description: 'Sent as `Authorization: Bearer` instead of an API key.' }),
    token_type: Type.Literal('Bearer', { description: 'How it is sent.' }),
    expires_in: Type.Integer({ description: 'Seconds until it expires.' }),
    refresh_token: Type.Optional(
      Type.String({ description: 'Gets the next access token, once. The answer then has the next one.' }),
    ),
    email: Type.Optional(
      Type.String({
        description:
          'The address of the person who approved the code of a device. Claude Code asks whether it is the right one.',
      }),
    ),
    issued_token_type: Type.Optional(Type.String({ description: 'The kind of an exchanged token.' })),
  },
  { title: 'Tokens' },
)

/** The token endpoint of RFC 6749. */
export const tokenRoutes = ({ grantTypes, guard }: TokenRouteOptions): Route[] => [
  defineRoute({
    tag: 'OAuth',
    method: 'POST',
    path: '/oauth/token',
    summary: 'Get an access token',
    access: NO_KEY,
    wire: oauthWire,
    body: TokenBody,
    takesUrlEncoded: true,
    bodyLimitBytes: TOKEN_BYTES_MAX,
    otherErrors: [401, 503],
    responses: { 200: { description: 'The tokens.', schema: TokenAnswer } },
    handle: async (request) => {
      const fields: Readonly<Record<string, string>> = request.body
      const grantType = grantTypes.get(request.body.grant_type)
      if (grantType === undefined) throw unsupported([...grantTypes.keys()])
      const { incoming } = request.exchange
      const asked = { fields, origin: originOf(incoming, guard) }
      // Wrong tokens count like wrong keys.
      const issued = await guard.countSignIn(incoming, () => grantType(asked))
      return tokensToWire(issued)
    },
  }),
]

/** Returns a field of a request for a token. Throws if it is missing. */
export function requireField({ fields }: Pick<TokenRequest, 'fields'>, name: string): string {
  const value = fields[name]
  if (value !== undefined) return value
  throw new AppError('missing_required_parameter', `The field ${name} is missing.`, { param: name })
}

function unsupported(names: readonly string[]): AppError {
  return new AppError('unsupported_grant_type', `The grant types here are ${names.join(', ')}.`, {
    param: 'grant_type',
  })
}

function tokensToWire(issued: IssuedTokens): Static<typeof TokenAnswer> {
  const { accessToken, expiresInSeconds, refreshToken, email, issuedTokenType } = issued
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    ...(email !== undefined && { email }),
    ...(issuedTokenType !== undefined && { issued_token_type: issuedTokenType }),
  }
}
