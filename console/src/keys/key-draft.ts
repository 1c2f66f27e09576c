import type { ApiKey, KeyEnvironment, KeyScope, KeySettings } from '../api/keys.ts'

/** What is entered for a key, as text. */
export interface KeyDraft {
  readonly name: string
  readonly env: KeyEnvironment
  readonly scopes: readonly KeyScope[]
  readonly limitUsd: string
  readonly requestsPerMinute: string
  /** A local date and time, or empty for never. */
  readonly expiresAt: string
  /** Null allows every model. */
  readonly allowedModels: readonly string[] | null
}

export const NEW_KEY: KeyDraft = {
  name: '',
  env: 'dev',
  scopes: ['inference'],
  limitUsd: '',
  requestsPerMinute: '',
  expiresAt: '',
  allowedModels: null,
}

export function draftOfKey(key: ApiKey): KeyDraft {
  return {
    name: key.name,
    env: key.env,
    scopes: key.scopes,
    limitUsd: key.limit_usd === null ? '' : String(key.limit_usd),
    requestsPerMinute: key.requests_per_minute === null ? '' : String(key.requests_per_minute),
    expiresAt: key.expires_at === null ? '' : toLocalInput(Date.parse(key.expires_at)),
    allowedModels: key.allowed_models,
  }
}

export function settingsOfDraft(draft: KeyDraft): KeySettings {
  return {
    name: draft.name.trim(),
    scopes: [...draft.scopes],
    allowed_models: draft.allowedModels && [...draft.allowedModels],
    limit_usd: draft.limitUsd === '' ? null : Number(draft.limitUsd),
    requests_per_minute: draft.requestsPerMinute === '' ? null : Number(draft.requestsPerMinute),
    expires_at: draft.expiresAt === '' ? null : new Date(draft.expiresAt).toISOString(),
  }
}

/** Only what was changed, because a restricted key may not send settings that it may not grant. */
export function changedSettings(before: KeyDraft, after: KeyDraft): Partial<KeySettings> {
  const [old, next] = [settingsOfDraft(before), settingsOfDraft(after)]
  const entries = Object.entries(next).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(Reflect.get(old, name)),
  )
  return Object.fromEntries(entries)
}

/** The form of the browser's control for date and time. */
function toLocalInput(atMs: number): string {
  const offsetMs = new Date(atMs).getTimezoneOffset() * 60_000
  return new Date(atMs - offsetMs).toISOString().slice(0, 16)
}
