import type { Clock } from '../../kernel/clock.ts'
import { createTokenKeeper, type Expiring, type TokenKeeper } from './token-keeper.ts'

/** A keeper for each credential of a provider. */
export interface CredentialKeepers<Token> {
  of(credential: string, get: () => Promise<Expiring<Token>>): TokenKeeper<Token>
  forget(credential: string, hadToken: (token: Token) => boolean): boolean
}

/** More credentials than a provider can have. */
const KEEPERS_MAX = 100

export function createCredentialKeepers<Token>(clock: Clock): CredentialKeepers<Token> {
  const keepers = new Map<string, TokenKeeper<Token>>()
  return {
    of(credential, get) {
      const known = keepers.get(credential)
      if (known !== undefined) return known
      if (keepers.size >= KEEPERS_MAX) keepers.clear()
      const keeper = createTokenKeeper(get, clock)
      keepers.set(credential, keeper)
      return keeper
    },
    forget: (credential, hadToken) => keepers.get(credential)?.forget(hadToken) ?? false,
  }
}
