import { readFile } from 'node:fs/promises'
import { UpstreamError } from '../failures/upstream-error.ts'
import { readSignInDocument, type SignInDocument } from './sign-in-document.ts'
import type { SignIn, SignInOptions } from './sign-in.ts'
import { createCredentialKeepers } from './credential-keepers.ts'
import type { Expiring } from './token-keeper.ts'

interface TokenVendor {
  /** The headers that carry a key, as alternating names and values. */
  readonly withKey: (key: string) => readonly string[]
  readonly getToken: (document: SignInDocument, options: SignInOptions) => Promise<Expiring<string>>
}

/** Signs in with a key as it is, or with a token that a document gets. */
export function createTokenSignIn({ withKey, getToken }: TokenVendor, options: SignInOptions): SignIn {
  const keepers = createCredentialKeepers<string>(options.clock)
  return {
    sign(credential) {
      const document = readSignInDocument(credential)
      if (document === null) return withKey(credential)
      const token = keepers.of(credential, () => getToken(document, options)).take()
      return typeof token === 'string' ? bearer(token) : token.then(bearer)
    },
    forget: (credential, signed) => keepers.forget(credential, (token) => signed[1] === bearer(token)[1]),
  }
}

function bearer(token: string): readonly string[] {
  return ['authorization', `Bearer ${token}`]
}

const TOKEN_FILE_LENGTH_MAX = 64 * 1024

/** Reads a token that the platform renews in a file. */
export async function readTokenFile(provider: string, path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const token = text.trim()
  if (token !== '' && token.length <= TOKEN_FILE_LENGTH_MAX) return token
  throw new UpstreamError(`${provider} could not sign in: its token file cannot be read`, {
    failure: 'status',
    provider,
    status: 401,
  })
}
