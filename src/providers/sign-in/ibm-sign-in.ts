import { createTokenSignIn } from './keep-tokens.ts'
import { readToken, requestJson } from './request-token.ts'
import { findMissing, readSignInDocument, type SignInDocument } from './sign-in-document.ts'
import type { SignInKind, SignInOptions } from './sign-in.ts'
import type { Expiring } from './token-keeper.ts'

const TYPE = 'ibm_api_key'
const TOKEN_URL = 'https://iam.cloud.ibm.com/identity/token'
const GRANT = 'urn:ibm:params:oauth:grant-type:apikey'

/**
 * Tokens of IBM Cloud for API keys.
 * https://cloud.ibm.com/docs/account?topic=account-iamtoken_from_apikey
 */
export const ibmSignIn: SignInKind = {
  findProblem: (document) =>
    document.type === TYPE
      ? findMissing(document, ['api_key'])
      : `the type of its sign-in document is not ${TYPE}`,
  needsMachine: (document) => (document.read('token_url') ?? TOKEN_URL) !== TOKEN_URL,
  create: (options) => {
    const signIn = createTokenSignIn({ withKey: (key) => [key], getToken: exchangeKey }, options)
    return {
      sign: (credential, request) => signIn.sign(toDocument(credential), request),
      forget: (credential, signed) => signIn.forget(toDocument(credential), signed),
    }
  },
}

/** A key alone is exchanged too. */
function toDocument(credential: string): string {
  return readSignInDocument(credential) === null
    ? JSON.stringify({ type: TYPE, api_key: credential })
    : credential
}

async function exchangeKey(
  document: SignInDocument,
  { provider, path }: SignInOptions,
): Promise<Expiring<string>> {
  return readToken(
    provider,
    await requestJson({
      provider,
      path,
      url: document.read('token_url') ?? TOKEN_URL,
      form: { grant_type: GRANT, apikey: document.read('api_key') ?? '' },
    }),
  )
}
