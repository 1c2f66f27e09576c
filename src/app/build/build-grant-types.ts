import { deviceGrantTypes } from '../../http/routes/oauth/grant-types.ts'
import { TOKEN_EXCHANGE, tokenExchange } from '../../http/routes/oauth/token-exchange.ts'
import type { GrantType } from '../../http/routes/oauth/token.ts'
import type { Grants } from '../../modules/grants/grants.ts'
import type { Trust } from '../../modules/trust/trust.ts'

interface GrantTypeParts {
  readonly grants: Grants
  readonly trust: Trust
}

/** Every way to get a token at `/oauth/token`, by the `grant_type` of the request. */
export function buildGrantTypes({ grants, trust }: GrantTypeParts): ReadonlyMap<string, GrantType> {
  return new Map([...deviceGrantTypes(grants), [TOKEN_EXCHANGE, tokenExchange({ trust })]])
}
