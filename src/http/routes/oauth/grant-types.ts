import type { Grants, GrantTokens } from '../../../modules/grants/grants.ts'
import {
  DEVICE_CODE_GRANT,
  requireField,
  type GrantType,
  type IssuedTokens,
  type TokenRequest,
} from './token.ts'

/** Of a tool that does not name itself. Claude Code sends an empty form. */
export const UNNAMED_CLIENT = 'unnamed'

/** How a tool that a person signs in gets its tokens. */
export function deviceGrantTypes(
  grants: Pick<Grants, 'redeem' | 'refresh'>,
): readonly (readonly [name: string, grantType: GrantType])[] {
  return [
    [
      DEVICE_CODE_GRANT,
      async (request) => {
        const deviceCode = requireField(request, 'device_code')
        return issued(await grants.redeem({ deviceCode, clientId: clientIdOf(request) }))
      },
    ],
    [
      'refresh_token',
      async (request) => {
        const refreshToken = requireField(request, 'refresh_token')
        const clientId = clientIdOf(request)
        return issued(await grants.refresh({ refreshToken, clientId, origin: request.origin }))
      },
    ],
  ]
}

function issued(tokens: GrantTokens): IssuedTokens {
  return tokens
}

function clientIdOf({ fields }: TokenRequest): string {
  return fields['client_id'] ?? UNNAMED_CLIENT
}
