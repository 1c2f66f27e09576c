import { readJson } from '../../../ui/forms/read-json.ts'

export type Settings = Record<string, unknown>

/** As the API has them. It is asked in any case; this tells while a person types. */
export const SETTINGS_BYTES_MAX = 32 * 1024
const LEVELS_MAX = 16

type ReadSettings =
  | { readonly settings: Settings; readonly bytes: number; readonly problem: null }
  | { readonly problem: string }

/** Reads what a person wrote into the editor. */
export function readSettings(text: string): ReadSettings {
  const read = readJson(text)
  if (read.problem !== null) return read
  const { value } = read
  if (!isObject(value)) return { problem: 'Settings are an object: they begin with { and end with }.' }
  const bytes = new TextEncoder().encode(JSON.stringify(value)).length
  if (bytes > SETTINGS_BYTES_MAX)
    return { problem: `Settings have at most 32 KiB as JSON. These have ${Math.ceil(bytes / 1024)} KiB.` }
  const problem = problemOf(value, 1)
  return problem === null ? { settings: value, bytes, problem: null } : { problem }
}

function problemOf(value: unknown, level: number): string | null {
  if (typeof value !== 'object' || value === null) return null
  if (level > LEVELS_MAX) return `Settings are nested at most ${LEVELS_MAX} levels deep.`
  if (Object.hasOwn(value, '__proto__')) return 'Settings have no member “__proto__”.'
  for (const member of Object.values(value)) {
    const problem = problemOf(member, level + 1)
    if (problem !== null) return problem
  }
  return null
}

function isObject(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Members with which settings start programs on the machines of those who get them. */
const STARTING = [
  'hooks',
  'apiKeyHelper',
  'statusLine',
  'awsAuthRefresh',
  'awsCredentialExport',
  'otelHeadersHelper',
]

/** The members of settings that start programs. */
export function startingMembers(settings: Settings): string[] {
  return STARTING.filter((name) => Object.hasOwn(settings, name))
}
