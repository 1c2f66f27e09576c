import { TOKEN_EXCHANGE, tokenExchange } from '../../http/routes/oauth/token-exchange.ts'
import type { GrantType } from '../../http/routes/oauth/token.ts'
import type { Trust } from '../../modules/trust/trust.ts'

/** Every way to get a token at `/oauth/token`, by the `grant_type` of the request. */
export function buildGrantTypes({ trust }: { readonly trust: Trust }): ReadonlyMap<string, GrantType> {
  return new Map([[TOKEN_EXCHANGE, tokenExchange({ trust })]])
}
