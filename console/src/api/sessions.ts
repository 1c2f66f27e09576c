import { queryOptions } from '@tanstack/react-query'
import { toApiError } from './api-error.ts'
import { call, client, type Schemas } from './client.ts'
import type { makePasskeyForLink } from './passkeys.ts'
import { enterProject } from './project.ts'
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

/** Where the session works, and the projects whose names contain these words. */
export const currentSessionQuery = (search: string) =>
  queryOptions({
    queryKey: ['session', 'current', search],
    queryFn: ({ signal }) =>
      call(() =>
        client.GET('/v1/sessions/current', { params: { query: search === '' ? {} : { search } }, signal }),
      ),
    placeholderData: (before) => before,
  })

/** Continues in another project with a new page, so that nothing of the one before stays. */
export async function moveToProject(projectId: string | null, path: string): Promise<void> {
  const response = await enterProject(projectId)
  if (!response.ok) throw toApiError(await response.json().catch(() => null), response)
  location.assign(projectId === null ? path : `${path}?project=${encodeURIComponent(projectId)}`)
}

/** Where a link leads. Reading it uses nothing up. */
export const linkQuery = (code: string) =>
  queryOptions({
    queryKey: ['invite-link', code],
    queryFn: ({ signal }) => call(() => client.POST('/v1/invites/read', { body: { code }, signal })),
    retry: false,
    staleTime: Infinity,
  })

interface AcceptedLink {
  readonly code: string
  readonly name: string
  /** Null to come in without one. */
  readonly passkey: Awaited<ReturnType<typeof makePasskeyForLink>> | null
}

/** Uses the invitation of a link up, and starts the session of the person. */
export async function acceptInvitation({ code, name, passkey }: AcceptedLink): Promise<void> {
  const body = { code, ...(name !== '' && { name }), ...(passkey !== null && { passkey }) }
  await call(() => client.POST('/v1/invites/accept', { body }))
  announceSessionChange('in')
}

export type Session = Schemas['Session']

/** The ways in that this gateway offers. */
export const signInMethodsQuery = queryOptions({
  queryKey: ['sign-in-methods'],
  queryFn: ({ signal }) => call(() => client.GET('/v1/sessions/methods', { signal })),
  staleTime: 60_000,
})

/** Where the person of this session is signed in. */
export const ownSessionsQuery = queryOptions({
  queryKey: ['sessions', 'own'],
  queryFn: ({ signal }) =>
    call(() => client.GET('/v1/sessions', { params: { query: { mine: true } }, signal })),
})

export const endSession = (id: string) =>
  call(() => client.DELETE('/v1/sessions/{id}', { params: { path: { id } } }))

export const endOtherSessions = () => call(() => client.DELETE('/v1/sessions'))
