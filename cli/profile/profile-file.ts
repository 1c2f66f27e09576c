import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

/** The address of a gateway and a key for it. */
export interface Profile {
  readonly base_url: string
  readonly api_key: string
  /** The project that all requests name. */
  readonly project_id?: string
  /** Of a profile that a person signed in: `api_key` is then an access token that expires. */
  readonly grant?: ProfileGrant
}

interface ProfileGrant {
  readonly refresh_token: string
  /** When the access token expires, in milliseconds since 1970. */
  readonly expires_at: number
}

export interface Profiles {
  /** The profile of commands without `--profile`. */
  readonly current: string | null
  readonly profiles: Readonly<Record<string, Profile>>
}

const NONE: Profiles = { current: null, profiles: {} }

/** Returns the path of the profiles in the user's configuration directory. */
export function profilePath(environment: NodeJS.ProcessEnv): string {
  const { XDG_CONFIG_HOME: xdg, APPDATA: appData } = environment
  const base = xdg || (process.platform === 'win32' && appData) || join(homedir(), '.config')
  return join(base, 'parkway', 'profiles.json')
}

export function readProfiles(path: string): Profiles {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return NONE
    throw error
  }
  const parsed = parse(text)
  if (parsed === null)
    throw new CommandFailure(
      EXIT.failed,
      `${path} is not a file of profiles.`,
      'Delete it and sign in again.',
    )
  return parsed
}

/** Writes the file so that other users cannot read it, and so that an interrupted write leaves the old one. */
export function writeProfiles(path: string, profiles: Profiles): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, path)
}

function parse(text: string): Profiles | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (!isRecord(value) || !isRecord(value.profiles)) return null
  const all = Object.entries(value.profiles)
  if (!all.every((entry): entry is [string, Profile & Record<string, unknown>] => isProfile(entry[1])))
    return null
  return {
    current: typeof value.current === 'string' ? value.current : null,
    profiles: Object.fromEntries(all),
  }
}

function isProfile(value: unknown): value is Profile & Record<string, unknown> {
  return (
    isRecord(value) &&
    typeof value.base_url === 'string' &&
    typeof value.api_key === 'string' &&
    isAbsentOrText(value.project_id) &&
    isAbsentOrGrant(value.grant)
  )
}

function isAbsentOrGrant(value: unknown): boolean {
  if (value === undefined) return true
  return isRecord(value) && typeof value.refresh_token === 'string' && typeof value.expires_at === 'number'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isAbsentOrText(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}
