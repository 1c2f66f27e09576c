import type { Grants, GrantTokens } from '../../../modules/grants/grants.ts'
import { DEVICE_CODE_GRANT, requireField, type GrantType, type IssuedTokens } from './token.ts'

/** How a tool that a person signs in gets its tokens. */
export function deviceGrantTypes(
  grants: Pick<Grants, 'redeem' | 'refresh'>,
): readonly (readonly [name: string, grantType: GrantType])[] {
  return [
    [
      DEVICE_CODE_GRANT,
      async (request) => {
        const deviceCode = requireField(request, 'device_code')
        return issued(await grants.redeem({ deviceCode, clientId: requireField(request, 'client_id') }))
      },
    ],
    [
      'refresh_token',
      async (request) => {
        const refreshToken = requireField(request, 'refresh_token')
        const clientId = requireField(request, 'client_id')
        return issued(await grants.refresh({ refreshToken, clientId, origin: request.origin }))
      },
    ],
  ]
}

function issued(tokens: GrantTokens): IssuedTokens {
  return tokens
}
