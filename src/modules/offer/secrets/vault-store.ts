import { isRecord } from '../../../kernel/is-record.ts'
import { checked, unreadable, type SecretReading } from './secret-reading.ts'
import { SecretStoreAway, type SecretStore } from './secret-store.ts'

interface VaultOptions {
  readonly address: string
  /** Returns the token as it is now. It may end, and be replaced in its file. */
  readonly readToken: () => string | null
  readonly namespace: string | null
  /** What secrets may be read from: paths of the API, with everything below those that end with a slash. */
  readonly paths: readonly string[]
}

const PREFIX = 'vault:'
const REFERENCE = /^vault:([\w.-]+(?:\/[\w.-]+){0,20})#([\w.-]{1,100})$/
const REFERENCE_LENGTH_MAX = 500
const ANSWER_MS_MAX = 5_000
const ANSWER_BYTES_MAX = 256 * 1024

/** Reads secrets of HashiCorp Vault or OpenBao: `vault:secret/data/openai#api_key`, with the path of their API. */
export function createVaultStore(options: VaultOptions): SecretStore {
  const { paths } = options
  return {
    prefix: PREFIX,
    form: 'vault:path#field',
    findProblem: (reference) => {
      const path = reference.length > REFERENCE_LENGTH_MAX ? undefined : REFERENCE.exec(reference)?.[1]
      if (path === undefined || path.split('/').some((part) => /^\.+$/.test(part)))
        return 'it is not vault:path#field with a plain path'
      const isAllowed = paths.some((allowed) =>
        allowed.endsWith('/') ? path.startsWith(allowed) : path === allowed,
      )
      return isAllowed ? null : `the path is below none of ${paths.join(', ')}`
    },
    read: async (reference) => {
      const [, path = '', field = ''] = REFERENCE.exec(reference) ?? []
      return readField(await ask(path, options), field)
    },
  }
}

/** Returns null if the path has no secret. */
async function ask(path: string, { address, readToken, namespace }: VaultOptions): Promise<unknown> {
  const token = readToken()
  if (token === null) throw new SecretStoreAway('there is no token for the vault')
  const headers = {
    'x-vault-token': token,
    ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
  }
  const url = `${address.replace(/\/+$/, '')}/v1/${path}`
  const signal = AbortSignal.timeout(ANSWER_MS_MAX)
  let response: Response
  let text: string
  try {
    // A standby of Vault may answer with the address of the active one. Our token goes nowhere but to the address that we were given.
    response = await fetch(url, { headers, signal, redirect: 'manual' })
    text = await readText(response)
  } catch (cause) {
    throw new SecretStoreAway('the vault does not answer', { cause })
  }
  if (response.status === 404) return null
  if (response.status === 403) throw new SecretStoreAway('the vault refuses our token for this path')
  if (response.status !== 200) throw new SecretStoreAway(`the vault answered ${response.status}`)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new SecretStoreAway('the answer of the vault is not JSON', { cause })
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > ANSWER_BYTES_MAX) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The second version of the key-value store puts the fields one level deeper, beside their metadata. */
function readField(answer: unknown, field: string): SecretReading {
  const outer = isRecord(answer) ? answer['data'] : null
  if (!isRecord(outer)) return unreadable('there is no such secret in the vault')
  const fields = isRecord(outer['data']) && isRecord(outer['metadata']) ? outer['data'] : outer
  const value = Object.hasOwn(fields, field) ? fields[field] : undefined
  return typeof value === 'string' ? checked(value) : unreadable('the secret in the vault has no such field')
}
