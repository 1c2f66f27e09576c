import { Type } from 'typebox'
import { objectName } from '../../../wires/usual-members.ts'
import { NO_KEY } from '../../access.ts'
import { findRelyingParty } from '../../relying-party.ts'
import { defineRoute, type Route } from '../../route.ts'

/** A directory whose people may sign in. */
export interface SignInProvider {
  readonly id: string
  readonly name: string
  /** The path of this gateway that begins the sign-in there. */
  readonly url: string
}

interface SignInMethodOptions {
  readonly publicUrl: string | null
  readonly listSignInProviders: () => Promise<readonly SignInProvider[]>
}

const MethodsAnswer = Type.Object(
  {
    object: objectName('sign_in.methods'),
    providers: Type.Array(
      Type.Object({
        id: Type.String({ description: 'The id of the provider.' }),
        name: Type.String({ description: 'What the button says.' }),
        url: Type.String({
          description:
            'The path that begins the sign-in there. `?return_to=` names the page to go to afterwards.',
        }),
      }),
      { description: 'The directories that people sign in with.' },
    ),
    passkeys: Type.Boolean({
      description: 'Whether people can sign in with a passkey: browsers have none for an IP address.',
    }),
    api_key: Type.Boolean({ description: 'Whether an API key signs in.' }),
    link: Type.Boolean({ description: 'Whether a one-time link signs in.' }),
  },
  { title: 'SignInMethods' },
)

/** Tells a sign-in page what to offer. It is the same for everybody, so that it tells nothing about a person. */
export const signInMethodRoutes = ({ listSignInProviders, publicUrl }: SignInMethodOptions): Route[] => [
  defineRoute({
    tag: 'Sessions',
    method: 'GET',
    path: '/v1/sessions/methods',
    summary: 'List the ways to sign in',
    access: NO_KEY,
    responses: { 200: { description: 'What a sign-in page offers.', schema: MethodsAnswer } },
    handle: async ({ headers }) => ({
      object: 'sign_in.methods',
      providers: await listSignInProviders(),
      passkeys: findRelyingParty(headers, publicUrl) !== null,
      api_key: true,
      link: true,
    }),
  }),
]
