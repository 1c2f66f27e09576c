import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import { queryOptions } from '@tanstack/react-query'
import { ApiError } from './api-error.ts'
import { call, client, type Schemas } from './client.ts'
import { announceSessionChange } from './session-signals.ts'

export type Passkey = Schemas['Passkey']

/** Loaded when a passkey is used first. */
const browserLibrary = () => import('@simplewebauthn/browser')

/** Whether this browser has passkeys here: it needs https, or localhost. */
export const hasPasskeys = (): boolean => typeof window.PublicKeyCredential === 'function'

/** Starts a session with a passkey that the person chooses in the browser. */
export async function signInWithPasskey(): Promise<void> {
  const { public_key: options } = await call(() => client.POST('/v1/sessions/passkey/options'))
  const credential = await useDevice(options)
  await call(() => client.POST('/v1/sessions/passkey', { body: { credential } }))
  announceSessionChange('in')
}

/** Asks the person for their passkey again. Throws if it is refused. */
export async function confirmWithPasskey(): Promise<void> {
  const { public_key: options } = await call(() =>
    client.POST('/v1/sessions/current/confirm/passkey/options'),
  )
  const credential = await useDevice(options)
  await call(() => client.POST('/v1/sessions/current/confirm/passkey', { body: { credential } }))
}

/** Makes a passkey on this device for the person of an invitation. */
export async function makePasskeyForLink(code: string) {
  const { public_key: options } = await call(() => client.POST('/v1/invites/passkey', { body: { code } }))
  return { name: deviceName(), credential: await makeOnDevice(options) }
}

export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/passkeys', { signal })),
})

/** Makes a passkey on this device for the person of the session. */
export async function addPasskey(): Promise<Passkey> {
  const { public_key: options } = await call(() => client.POST('/v1/passkeys/options'))
  const credential = await makeOnDevice(options)
  return call(() => client.POST('/v1/passkeys', { body: { name: deviceName(), credential } }))
}

export const renamePasskey = (id: string, name: string) =>
  call(() => client.PATCH('/v1/passkeys/{id}', { params: { path: { id } }, body: { name } }))

export const removePasskey = (id: string, evenIfLast: boolean) =>
  call(() =>
    client.DELETE('/v1/passkeys/{id}', { params: { path: { id }, query: { even_if_last: evenIfLast } } }),
  )

async function useDevice(options: Schemas['PasskeyRequest']['public_key']) {
  const { startAuthentication } = await browserLibrary()
  const optionsJSON = options as PublicKeyCredentialRequestOptionsJSON
  const { id, rawId, type, response } = await startAuthentication({ optionsJSON }).catch(explain)
  return { id, rawId, type, response }
}

async function makeOnDevice(options: Schemas['PasskeyCreation']['public_key']) {
  const { startRegistration } = await browserLibrary()
  const optionsJSON = options as PublicKeyCredentialCreationOptionsJSON
  const { id, rawId, type, response } = await startRegistration({ optionsJSON }).catch(explain)
  const { clientDataJSON, attestationObject, transports = [] } = response
  return { id, rawId, type, response: { clientDataJSON, attestationObject, transports } }
}

/** Browsers say little of why, so that pages learn nothing about devices. */
function explain(error: unknown): never {
  const name = error instanceof Error ? error.name : ''
  throw new ApiError(REASONS[name] ?? 'The device could not do that. Try again, or use another one.', {
    code: 'passkey_failed',
  })
}

const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError: 'It was cancelled, or this device has no passkey for this gateway.',
  InvalidStateError: 'This device has a passkey for this account already.',
  NotSupportedError: 'This device cannot make a passkey that it locks with a fingerprint, a face or a PIN.',
  ConstraintError: 'This device has no screen lock. Set one, or use another device.',
  SecurityError: 'Passkeys work only at the address that the operator of this gateway has set, over https.',
}

/** How the person may recognise this device in a list. */
function deviceName(): string {
  return describeBrowser(navigator.userAgent)
}

const SYSTEMS = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Mac OS X/, 'Mac'],
  [/Windows/, 'Windows'],
  [/CrOS/, 'Chromebook'],
  [/Linux/, 'Linux'],
] as const

const BROWSERS = [
  [/Edg\//, 'Edge'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const

/** Names a browser from the text with which it names itself. */
export function describeBrowser(userAgent: string): string {
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1]
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1]
  if (browser === undefined) return userAgent === '' ? 'Unknown browser' : userAgent.slice(0, 60)
  return system === undefined ? browser : `${browser} on ${system}`
}
