import { call, client } from './client.ts'
import { cursorPages } from './cursor-pages.ts'

type KeyPage = Awaited<ReturnType<typeof fetchKeys>>
export type ApiKey = KeyPage['data'][number]
export type KeyScope = ApiKey['scopes'][number]
export type KeyEnvironment = ApiKey['env']

export const KEY_ENVIRONMENTS: readonly KeyEnvironment[] = ['dev', 'test', 'staging', 'prod', 'live']

/** What a key may be restricted to. Null sets no restriction. */
export interface KeySettings {
  readonly name: string
  readonly scopes: KeyScope[]
  readonly allowed_models: string[] | null
  readonly limit_usd: number | null
  readonly requests_per_minute: number | null
  readonly expires_at: string | null
}

/** The keys of the account, newest first. */
export const keysQuery = () => cursorPages({ queryKey: ['keys'], fetchPage: fetchKeys })

/** What is done with the keys of one account: one's own, or one that an operator looks at. */
export interface KeyActions {
  /** What the session needs to change these keys. */
  readonly needs: 'keys.own' | 'gateway.manage'
  /** Of the list of keys. */
  readonly queryKey: readonly string[]
  readonly create: (body: KeySettings & { env: KeyEnvironment }) => Promise<{ name: string; key: string }>
  readonly update: (id: string, body: Partial<KeySettings>) => Promise<ApiKey>
  /** Absent for keys of others, whose secrets are not the operator's. */
  readonly rotate?: (key: ApiKey, overlapSeconds: number) => Promise<{ name: string; key: string }>
  readonly revoke: (id: string) => Promise<unknown>
}

export const createKey = (body: KeySettings & { env: KeyEnvironment }) =>
  call(() => client.POST('/v1/tenants/me/api-keys', { body }))

export const OWN_KEYS: KeyActions = {
  needs: 'keys.own',
  queryKey: ['keys'],
  create: createKey,
  update: (id, body) =>
    call(() => client.PATCH('/v1/tenants/me/api-keys/{id}', { params: { path: { id } }, body })),
  rotate: ({ id, former_key: former }, overlapSeconds) =>
    call(() =>
      client.POST('/v1/tenants/me/api-keys/{id}/rotate', {
        params: { path: { id } },
        body: { overlap_seconds: overlapSeconds, end_former: former !== undefined },
      }),
    ),
  revoke: (id) => call(() => client.DELETE('/v1/tenants/me/api-keys/{id}', { params: { path: { id } } })),
}

function fetchKeys(after: string | undefined, signal: AbortSignal) {
  return call(() =>
    client.GET('/v1/tenants/me/api-keys', { params: { query: { after, limit: 100 } }, signal }),
  )
}
