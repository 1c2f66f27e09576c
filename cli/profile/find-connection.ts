import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import type { Profiles } from './profile-file.ts'

/** Which gateway a command calls, and with which key. */
export interface Connection {
  readonly baseUrl: string
  readonly apiKey: string
  /** The profile they come from; null if the environment gives the key. */
  readonly profile: string | null
  /** What every request names in `OpenAI-Project`. Null or absent: nothing. */
  readonly projectId?: string | null
  /** Whether the key is the access token of a profile that a person signed in. */
  readonly isSignedInByPerson?: boolean
}

export const DEFAULT_BASE_URL = 'http://127.0.0.1:8080'

/**
 * Finds the gateway and the key: `--profile`, `PARKWAY_PROFILE`, `PARKWAY_API_KEY`, the current profile, in this order.
 * `PARKWAY_BASE_URL` replaces the address of any of them, because a key must be usable at another address of its gateway.
 */
export function findConnection(
  wanted: string | undefined,
  environment: NodeJS.ProcessEnv,
  { current, profiles }: Profiles,
): Connection {
  const baseUrl = environment.PARKWAY_BASE_URL ? toBaseUrl(environment.PARKWAY_BASE_URL) : null
  const named = wanted ?? (environment.PARKWAY_PROFILE || null)
  if (named === null && environment.PARKWAY_API_KEY)
    return { baseUrl: baseUrl ?? DEFAULT_BASE_URL, apiKey: environment.PARKWAY_API_KEY, profile: null }
  const name = named ?? current
  const profile = name === null ? undefined : profiles[name]
  if (name === null || profile === undefined) throw notSignedIn(name)
  return {
    baseUrl: baseUrl ?? profile.base_url,
    apiKey: profile.api_key,
    profile: name,
    projectId: profile.project_id ?? null,
    isSignedInByPerson: profile.grant !== undefined,
  }
}

/** Returns the name of the profile that `findConnection` would use. Null if the environment gives the key. */
export function findProfileName(
  wanted: string | undefined,
  environment: NodeJS.ProcessEnv,
  { current }: Profiles,
): string | null {
  const named = wanted ?? (environment.PARKWAY_PROFILE || null)
  return named === null && environment.PARKWAY_API_KEY ? null : (named ?? current)
}

/** Returns the address without `/v1` and slashes at its end, as people copy it from documents. Throws if it is none. */
export function toBaseUrl(text: string): string {
  const trimmed = text.trim().replace(/\/+$/, '').replace(/\/v1$/, '')
  if (!/^https?:\/\/[^\s#?]+$/.test(trimmed) || !URL.canParse(trimmed))
    throw new CommandFailure(
      EXIT.usage,
      `"${text}" is not the address of a gateway, such as ${DEFAULT_BASE_URL}.`,
    )
  return trimmed
}

function notSignedIn(name: string | null): CommandFailure {
  return new CommandFailure(
    EXIT.notSignedIn,
    name === null ? 'You are not signed in to a gateway.' : `There is no profile "${name}".`,
    `Sign in with "parkway login${name === null ? '' : ` --profile ${name}`}", or set PARKWAY_API_KEY.`,
  )
}
