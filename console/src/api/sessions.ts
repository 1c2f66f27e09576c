import { call, client } from './client.ts'
import { announceSessionChange } from './session-signals.ts'

/** Starts a session. The browser keeps its cookie; the key is not kept. */
export async function signInWithKey(apiKey: string): Promise<void> {
  await call(() => client.POST('/v1/sessions', { body: { api_key: apiKey } }))
  announceSessionChange('in')
}

/** Starts a session with the one-time code of a sign-in link. */
export async function signInWithCode(code: string): Promise<void> {
  await call(() => client.POST('/v1/sessions', { body: { code } }))
  announceSessionChange('in')
}

export async function signOut(): Promise<void> {
  await call(() => client.DELETE('/v1/sessions/{id}', { params: { path: { id: 'current' } } }))
  announceSessionChange('out')
}

/** Proves again that the person has the key, for requests that change credit. */
export async function confirmWithKey(apiKey: string): Promise<void> {
  await call(() => client.POST('/v1/sessions/current/confirm', { body: { api_key: apiKey } }))
}
