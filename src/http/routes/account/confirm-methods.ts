import { Type, type Static } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import type { Caller } from '../../../modules/keys/keys.ts'
import type { Passkeys } from '../../../modules/passkeys/passkeys.ts'
import { orNull } from '../../../wires/nullable.ts'
import { findRelyingParty } from '../../relying-party.ts'
import type { RouteRequest } from '../../route.ts'
import type { SignInProvider } from './sign-in-methods.ts'

interface ConfirmMethodsOptions {
  readonly passkeys: Pick<Passkeys, 'waysToConfirm'>
  readonly listSignInProviders: () => Promise<readonly SignInProvider[]>
  readonly publicUrl: string | null
}

export const ConfirmMethods = Type.Array(
  Type.Object({
    type: Type.Enum(['passkey', 'directory', 'key'], { description: 'What proves it.' }),
    name: orNull(Type.String(), 'The name of the directory.'),
    url: Type.String({
      description:
        'The path: of a passkey and a key to POST to, of a directory to open in the browser, with `&return_to=` and a path of the console.',
    }),
  }),
  {
    description:
      'How the session proves again who uses it, where a route answers 403 `confirmation_required`. Empty: only signing in again does.',
  },
)

/** Returns the ways in which the session of the caller can prove again who uses it. */
export async function listConfirmMethods(
  caller: Caller,
  headers: RouteRequest<unknown, unknown, unknown>['headers'],
  { passkeys, listSignInProviders, publicUrl }: ConfirmMethodsOptions,
): Promise<Static<typeof ConfirmMethods>> {
  const ways = await passkeys.waysToConfirm(caller, findRelyingParty(headers, publicUrl))
  const methods: Static<typeof ConfirmMethods> = []
  if (ways.passkey) methods.push({ type: 'passkey', name: null, url: '/v1/sessions/current/confirm/passkey' })
  if (ways.providerId !== null) {
    const provider = (await listSignInProviders()).find(({ id }) => id === ways.providerId)
    if (provider !== undefined)
      methods.push({ type: 'directory', name: provider.name, url: `${provider.url}?confirm=1` })
  }
  if (ways.key) methods.push({ type: 'key', name: null, url: '/v1/sessions/current/confirm' })
  return methods
}

/** The error of a request that needs a proof which is not older than 15 minutes. */
export async function confirmationRequired(
  caller: Caller,
  headers: RouteRequest<unknown, unknown, unknown>['headers'],
  options: ConfirmMethodsOptions,
): Promise<AppError> {
  const methods = await listConfirmMethods(caller, headers, options)
  const ways = methods.map(({ type, name, url }) =>
    type === 'directory'
      ? `sign in at ${name ?? 'your directory'} again (GET ${url})`
      : type === 'passkey'
        ? `use your passkey (POST ${url})`
        : `enter the API key again (POST ${url} with \`api_key\`)`,
  )
  const how = ways.length === 0 ? 'sign out and in again' : ways.join(', or ')
  return new AppError('confirmation_required', `Prove that it is you: ${how}. Then repeat this.`)
}
