import { readFileSync } from 'node:fs'
import { readFileKeys } from './provider-key-settings.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { readSignInDocument, writeSignInDocument } from '../../providers/sign-in/sign-in-document.ts'
import { BILLED_MEMBERS } from '../../providers/requests/billed-members.ts'
import { isNativeWire, NATIVE_WIRES, type NativeWire } from '../../providers/native-wire.ts'
import type { ProviderSettings } from '../../providers/create-provider.ts'
import { isSelfHosted, needsAddress, VENDORS, vendorOf } from '../../providers/vendors.ts'

/** The environment variables of a provider. The first one that is set is used. */
export interface ProviderVariables {
  readonly id: string
  readonly apiKey: readonly string[]
  /** The secret part, if a vendor issues two values. They are stored as `<key>:<secret>`. */
  readonly secretKey?: string
  readonly baseUrl: readonly string[]
  /** Variable that lists the wires it speaks besides chat. */
  readonly wires: string
  /** Variable with a document that says how to sign in, for vendors that have more than keys. */
  readonly signIn?: string
}

/** Uses the variable names of other tools, so that an existing environment works here. */
export const PROVIDER_VARIABLES: readonly ProviderVariables[] = VENDORS.map(({ id, keys, signIn }) => {
  const { prefix, apiKey = [`${prefix}_API_KEY`], secretKey } = keys
  const others = { baseUrl: [`${prefix}_BASE_URL`], wires: `${prefix}_WIRES` }
  return {
    id,
    apiKey,
    ...(secretKey === undefined ? {} : { secretKey }),
    ...(signIn === undefined ? {} : { signIn: `${prefix}_SIGN_IN` }),
    ...others,
  }
})

/** Returns the variable that configures a provider: its key, or its URL if it has no default URL. */
export function providerVariableOf(providerId: string): string | null {
  const variables = PROVIDER_VARIABLES.find(({ id }) => id === providerId)
  const vendor = vendorOf(providerId)
  const hasNoAddress = vendor !== undefined && needsAddress(vendor)
  return (hasNoAddress ? variables?.baseUrl : variables?.apiKey)?.[0] ?? null
}

/** Returns the variables that must be set to configure a provider: its key, both halves of a key, or its URL. */
export function missingSettingsOf(providerId: string): string[] {
  const variables = PROVIDER_VARIABLES.find(({ id }) => id === providerId)
  const first = providerVariableOf(providerId)
  const needsKeyToo = first !== null && first === variables?.baseUrl[0] && !isSelfHosted(providerId)
  return [first, needsKeyToo ? variables.apiKey[0] : undefined, variables?.secretKey].filter(
    (name) => name !== null && name !== undefined,
  )
}

interface ProviderSources {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The `providers` section of the configuration file. */
  readonly file: unknown
}

/** Reads credentials and URLs by provider id. The environment overrides the file. */
export function readProviderSettings(
  { environment, file }: ProviderSources,
  problems: string[],
): ReadonlyMap<string, ProviderSettings> {
  const settings = new Map<string, ProviderSettings>()
  if (file !== undefined && !isRecord(file))
    problems.push('providers in the configuration file must be an object')
  for (const [id, entry] of Object.entries(isRecord(file) ? file : {})) {
    const read = readFileEntry(id, entry, problems)
    if (read) settings.set(id, read)
    if (read?.baseUrl === null && isAddressMissing(id) && !hasAddress(environment, id))
      problems.push(`${placeOf(id)} needs base_url`)
    if (read?.baseUrl === null && !PROVIDER_VARIABLES.some((known) => known.id === id))
      problems.push(`${placeOf(id)} is not a known provider; one of your own needs base_url`)
  }
  for (const variables of PROVIDER_VARIABLES) {
    const { id, baseUrl } = variables
    const keys = readSignIn(environment, variables, problems) ?? readKeys(environment, variables, problems)
    const url = firstSet(environment, baseUrl)
    const wires = environment[variables.wires]
    const known = settings.get(id)
    if (keys === undefined && url === undefined && (wires === undefined || known === undefined)) continue
    // Other tools use the same variables for keys, without the address that is needed here.
    if (url === undefined && known === undefined && isAddressMissing(id)) continue
    settings.set(id, {
      ...(keys === undefined ? known : withoutKeys(known)),
      ...(wires === undefined || wires === ''
        ? {}
        : { wires: checkWires(variables.wires, splitList(wires), problems) }),
      apiKeys: keys ?? known?.apiKeys ?? [],
      baseUrl: url === undefined ? (known?.baseUrl ?? null) : checkUrl(url.name, url.text, problems),
    })
  }
  return settings
}

/** The keys of the environment stand in for those of the file, which have the weights and limits. */
function withoutKeys(known: ProviderSettings | undefined) {
  if (known === undefined) return {}
  const { keyWeights: _weights, keyLimits: _limits, ...others } = known
  return others
}

/** Whether a vendor, unlike a server of the operator's own, needs an address besides its key. */
function isAddressMissing(providerId: string): boolean {
  const vendor = vendorOf(providerId)
  return vendor !== undefined && needsAddress(vendor) && !isSelfHosted(providerId)
}

function hasAddress(environment: ProviderSources['environment'], providerId: string): boolean {
  const variables = PROVIDER_VARIABLES.find(({ id }) => id === providerId)
  return variables !== undefined && firstSet(environment, variables.baseUrl) !== undefined
}

function readFileEntry(id: string, entry: unknown, problems: string[]): ProviderSettings | null {
  const place = placeOf(id)
  if (!isRecord(entry)) {
    problems.push(`${place} must be an object with api_key, api_keys or base_url`)
    return null
  }
  const {
    api_key: apiKey,
    sign_in: signIn,
    api_keys: entries = apiKey === undefined ? [] : [apiKey],
    base_url: baseUrl,
    allow_members: allowedMembers = [],
    wires,
    ...rest
  } = entry
  for (const key of Object.keys(rest)) problems.push(`${place} has the unknown key ${key}`)
  const keys = readFileKeys(id, entries, place, problems)
  if (keys === null) return null
  const { apiKeys } = keys
  if (!isTextList(allowedMembers)) {
    problems.push(`${place}: allow_members must be a list of texts`)
    return null
  }
  if (wires !== undefined && !isTextList(wires)) {
    problems.push(`${place}: wires must be a list of texts`)
    return null
  }
  for (const name of allowedMembers)
    if (!BILLED_MEMBERS.has(name) && !isSelfHosted(id))
      problems.push(`${place}: allow_members names '${name}', which is not held back`)
  if (baseUrl !== undefined && typeof baseUrl !== 'string') problems.push(`${place}: base_url must be a text`)
  const documents = signIn === undefined ? [] : [JSON.stringify(signIn)]
  for (const document of [...documents, ...apiKeys.filter((key) => key.startsWith('{'))]) {
    const problem = findSignInProblem(id, document)
    if (problem !== null) problems.push(`${place}: sign_in cannot be used: ${problem}`)
  }
  return {
    ...keys,
    apiKeys: [...apiKeys, ...documents],
    ...(allowedMembers.length === 0 ? {} : { allowedMembers }),
    ...(wires === undefined ? {} : { wires: checkWires(`${place}: wires`, wires, problems) }),
    baseUrl: typeof baseUrl === 'string' ? checkUrl(`${place}: base_url`, baseUrl, problems) : null,
  }
}

/** All providers speak chat. Listing only this wire disables the others. */
const CHAT_WIRE = 'openai-chat'

function checkWires(place: string, names: readonly string[], problems: string[]): NativeWire[] {
  for (const name of names)
    if (!isNativeWire(name) && name !== CHAT_WIRE)
      problems.push(`${place} names '${name}'; the wires are ${[CHAT_WIRE, ...NATIVE_WIRES].join(', ')}`)
  return names.filter(isNativeWire)
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

function placeOf(id: string): string {
  return `providers.${id} in the configuration file`
}

function checkUrl(place: string, text: string, problems: string[]): string | null {
  if (URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)) return text
  problems.push(`${place} is ${JSON.stringify(text)}; it must be a URL with http:// or https://`)
  return null
}

function firstSet(environment: ProviderSources['environment'], names: readonly string[]) {
  for (const name of names) {
    const text = environment[name]
    if (text !== undefined && text !== '') return { name, text }
  }
  return undefined
}

function readKeys(
  environment: ProviderSources['environment'],
  { apiKey, secretKey, signIn }: ProviderVariables,
  problems: string[],
): string[] | undefined {
  const found = firstSet(environment, apiKey)
  if (found === undefined) return undefined
  // Its commas would separate keys.
  if (signIn !== undefined && found.text.trimStart().startsWith('{')) {
    problems.push(`${found.name} has a document instead of a key; it belongs into ${signIn}`)
    return undefined
  }
  const keys = splitList(found.text)
  if (secretKey === undefined) return keys
  const secrets = splitList(environment[secretKey] ?? '')
  if (secrets.length === keys.length) return keys.map((key, index) => `${key}:${secrets[index]}`)
  problems.push(`${secretKey} must have as many keys as ${found.name}`)
  return undefined
}

/** Reads the document of a `_SIGN_IN` variable: JSON, or the absolute path of a file with JSON. */
function readSignIn(
  environment: ProviderSources['environment'],
  { id, signIn }: ProviderVariables,
  problems: string[],
): string[] | undefined {
  const found = signIn === undefined ? undefined : firstSet(environment, [signIn])
  if (found === undefined) return undefined
  const text = found.text.startsWith('/') ? readText(found.text) : found.text
  const document = text === null ? null : writeSignInDocument(text)
  const problem =
    document === null ? 'it is neither a JSON object nor a file with one' : findSignInProblem(id, document)
  if (document !== null && problem === null) return [document]
  problems.push(`${found.name} cannot be used: ${problem}`)
  return undefined
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function findSignInProblem(providerId: string, credential: string): string | null {
  const document = readSignInDocument(credential)
  const kind = vendorOf(providerId)?.signIn
  if (kind === undefined) return 'this provider has keys only'
  return document === null ? 'it is not an object' : kind.findProblem(document)
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
