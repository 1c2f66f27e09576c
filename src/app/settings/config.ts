import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { isRecord } from '../../kernel/is-record.ts'
import type { ProviderSettings } from '../../providers/create-provider.ts'
import { nearestName } from '../../kernel/nearest-name.ts'
import { PROVIDER_VARIABLES, readProviderSettings } from './provider-settings.ts'
import type { Setting } from './setting.ts'
import { SETTINGS } from './settings.ts'

type Settings = typeof SETTINGS
type SettingName = keyof Settings

export type Config = {
  readonly [Name in SettingName]: Settings[Name] extends Setting<infer Value> ? Value : never
} & {
  readonly providers: ReadonlyMap<string, ProviderSettings>
  /** The variables that the gateway does not read itself. References of secrets may name them. */
  readonly otherVariables: ReadonlyMap<string, string>
}

/** Reports all problems of the configuration at once. */
export class ConfigInvalid extends Error {
  override readonly name = 'ConfigInvalid'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

interface ConfigSources {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** From the command line. They override the environment, which overrides the file. */
  readonly flags?: Readonly<Partial<Record<SettingName, string>>>
  readonly file?: string | null
  readonly directory?: string
}

const FILE_NAMES = ['parkway.config.json', 'parkway.config.yaml', 'parkway.config.yml']
const FILE_VARIABLE = 'PARKWAY_CONFIG_FILE'
const OBJECT_KEYS: ReadonlySet<string> = new Set(['providers', 'limits', 'task_limits', 'exports'])

/** Reads the environment and the optional file once. Throws a `ConfigInvalid` with all invalid values. */
export function loadConfig(sources: ConfigSources): Config {
  const problems: string[] = []
  const { environment, flags = {} } = sources
  const file = readConfigFile(sources, problems)
  const values = new Map<string, unknown>()
  for (const [name, setting] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const fileKey = toSnakeCase(name)
    const flag = isSettingName(name) ? flags[name] : undefined
    const given = [
      { source: `--${name}`, text: flag },
      { source: setting.environment, text: emptyAsAbsent(environment[setting.environment]) },
      { source: `${fileKey} in the configuration file`, text: toText(file[fileKey]) },
    ].find(({ text }) => text !== undefined)
    const text = given?.text ?? setting.defaultText
    try {
      values.set(name, text === null ? null : setting.parse(text))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      const shown = setting.isSecret ? 'a secret' : JSON.stringify(text)
      problems.push(`${given?.source ?? name} is ${shown}; it must be ${error.message}`)
    }
  }
  reportUnknownKeys(file, problems)
  reportUnknownVariables(environment, problems)
  reportMissingFile(values.get('catalogFile'), problems)
  const providers = readProviderSettings({ environment, file: file['providers'] }, problems)
  if (problems.length > 0) throw new ConfigInvalid(problems)
  values.set('providers', providers)
  values.set('otherVariables', new Map(Object.entries(environment).filter(isOther)))
  // Processes send this to each other: it must be data, without functions.
  return Object.freeze(Object.fromEntries(values)) as Config
}

const OWN_VARIABLES: ReadonlySet<string> = new Set([
  ...Object.values(SETTINGS).map((setting) => setting.environment),
  ...PROVIDER_VARIABLES.flatMap(({ apiKey, secretKey = [], signIn = [] }) =>
    [...apiKey, secretKey, signIn].flat(),
  ),
])

/** Whether the gateway reads this variable itself. Whoever administers providers may not read such secrets through them. */
export function isOwnVariable(name: string): boolean {
  return OWN_VARIABLES.has(name) || name.startsWith(PREFIX)
}

function isOther(entry: [string, string | undefined]): entry is [string, string] {
  return entry[1] !== undefined && !isOwnVariable(entry[0])
}

export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function readConfigFile(sources: ConfigSources, problems: string[]): Record<string, unknown> {
  const directory = sources.directory ?? process.cwd()
  const named = sources.file ?? emptyAsAbsent(sources.environment[FILE_VARIABLE])
  const path = named ?? FILE_NAMES.find((name) => existsSync(resolve(directory, name)))
  if (path === undefined) return {}
  try {
    const text = readFileSync(resolve(directory, path), 'utf8')
    const content: unknown = path.endsWith('.json') ? JSON.parse(text) : parseYaml(text)
    if (isRecord(content)) return content
    problems.push(`${path} must hold an object`)
  } catch (error) {
    problems.push(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  return {}
}

function reportUnknownKeys(file: Record<string, unknown>, problems: string[]): void {
  const known = new Set([...Object.keys(SETTINGS).map(toSnakeCase), 'providers', '$schema'])
  for (const key of Object.keys(file)) {
    if (!known.has(key)) problems.push(`${key} in the configuration file is not a setting`)
    else if (!OBJECT_KEYS.has(key) && isRecord(file[key]))
      problems.push(`${key} in the configuration file is an object; it must be a text, a number or a list`)
  }
}

/** Variables for clients of the gateway, which may share its environment. */
const CLIENT_VARIABLES: ReadonlySet<string> = new Set(['PARKWAY_API_KEY', 'PARKWAY_BASE_URL'])
/** Variables that Kubernetes sets in all containers if a service is called parkway. */
const SERVICE_LINK = /^PARKWAY_(SERVICE_(HOST|PORT)(_|$)|PORT_\d+_)/
const PREFIX = 'PARKWAY_'

// Otherwise a misspelt limit would silently have no effect.
function reportUnknownVariables(environment: ConfigSources['environment'], problems: string[]): void {
  const known = [...Object.values(SETTINGS).map((setting) => setting.environment), FILE_VARIABLE]
  for (const [name, text] of Object.entries(environment)) {
    const isOurs = name.startsWith(PREFIX) && emptyAsAbsent(text) !== undefined && !known.includes(name)
    if (!isOurs || CLIENT_VARIABLES.has(name) || SERVICE_LINK.test(name)) continue
    if (name === 'PARKWAY_PORT' && text?.startsWith('tcp://') === true) continue
    const bare = name.slice(PREFIX.length)
    const meant = known.includes(bare) ? bare : nearestName(name, known)
    const hint = meant === null ? 'see docs/configuration.md' : `${meant} was probably meant`
    problems.push(`${name} is not a setting; ${hint}`)
  }
}

function reportMissingFile(file: unknown, problems: string[]): void {
  if (typeof file !== 'string') return
  try {
    readFileSync(file)
  } catch (error) {
    problems.push(
      `The catalog file cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

function toText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value)) return value.map(String).join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function emptyAsAbsent(text: string | undefined): string | undefined {
  return text?.trim() === '' ? undefined : text?.trim()
}
