import type { GrantType } from '../../http/routes/oauth/token.ts'

/** Every way to get a token at `/oauth/token`, by the `grant_type` of the request. */
export function buildGrantTypes(): ReadonlyMap<string, GrantType> {
  return new Map()
}
