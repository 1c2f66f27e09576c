import type { Clock } from '../kernel/clock.ts'
import { isRecord } from '../kernel/is-record.ts'
import { parseJson } from '../kernel/json/parse-json.ts'
import { requestOnce } from './connection/request-once.ts'
import type { ProviderSettings } from './create-provider.ts'
import { UpstreamError, type UpstreamErrorDetails } from './failures/upstream-error.ts'
import type { ModelPage } from './model-page.ts'
import type { ModelListWire } from './vendor-descriptor.ts'
import { vendorOf } from './vendors.ts'

const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const MODELS_MAX = 5_000
const PAGES_MAX = 20
const NAME_LENGTH_MAX = 256
const WAIT_MS_MAX = 15_000

/** Whether the models of such a provider can be listed. */
export function canListModels(id: string, settings: ProviderSettings): boolean {
  return whyUnlisted(id, settings) === null
}

/** Returns why the models of such a provider cannot be listed, or null if they can. */
export function whyUnlisted(id: string, settings: ProviderSettings): string | null {
  const vendor = vendorOf(settings.vendor ?? id)
  if (vendor?.lacksModelList !== undefined) return vendor.lacksModelList
  if (vendor?.modelPages !== undefined || wireOfList(id, settings) !== null) return null
  return 'no such list is documented'
}

interface ListOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Returns the names of the models that the provider's first key can see. Throws only `UpstreamError`. */
export async function listModels(
  id: string,
  settings: ProviderSettings,
  { clock, signal: given }: ListOptions,
): Promise<readonly string[]> {
  const signal = AbortSignal.any([given, AbortSignal.timeout(WAIT_MS_MAX)])
  const fail = (message: string, details: Omit<UpstreamErrorDetails, 'provider'>) =>
    new UpstreamError(`${id} ${message}`, { provider: id, ...details })
  const headersOf = createHeaders(id, settings, clock)
  const names = new Set<string>()
  let pages = 0

  const read = async ({ url, read: readPage }: ModelPage): Promise<string | undefined> => {
    const headers = await headersOf(url)
    const { status, text } = await requestOnce({
      url,
      method: 'GET',
      headers,
      path: settings.path,
      signal,
      bytesMax: ANSWER_BYTES_MAX,
    }).catch((cause: unknown) => {
      throw fail('did not send its list of models', { failure: 'connect', cause })
    })
    if (status < 200 || status > 299) throw fail(`answered ${status}`, { failure: 'status', status })
    const found = readPage(parse(text))
    if (found === null) throw fail('answered with no list of models', { failure: 'invalid_answer' })
    for (const name of found.names) if (name.length <= NAME_LENGTH_MAX) names.add(name)
    return found.next
  }

  for (const page of pagesOf(id, settings)) {
    for (let url: string | undefined = page.url; url !== undefined && pages < PAGES_MAX; pages += 1)
      url = await read({ url, read: page.read })
  }
  return [...names].slice(0, MODELS_MAX)
}

/** Returns the first page of each list of the vendor. */
function pagesOf(id: string, settings: ProviderSettings): readonly ModelPage[] {
  const { baseUrl } = settings
  const pages = vendorOf(settings.vendor ?? id)?.modelPages
  if (pages !== undefined && baseUrl !== null) return pages(baseUrl.replace(/\/+$/, ''))
  const wire = wireOfList(id, settings)
  if (wire === null) return []
  return [{ url: `${(baseUrl ?? wire.baseUrl).replace(/\/+$/, '')}${wire.path}`, read: readNames }]
}

function wireOfList(id: string, { vendor: vendorId = id, baseUrl }: ProviderSettings): ModelListWire | null {
  const vendor = vendorOf(vendorId)
  if (vendor?.lacksModelList !== undefined) return null
  if (vendor?.modelList !== undefined) return vendor.modelList
  const address = baseUrl ?? vendor?.wire?.defaultBaseUrl ?? null
  if (address === null || (vendor !== undefined && vendor.wire === undefined)) return null
  return { baseUrl: address, keyHeader: 'authorization', path: '/models' }
}

/** Returns a function that writes the headers of a request. */
function createHeaders(
  id: string,
  settings: ProviderSettings,
  clock: Clock,
): (url: string) => Promise<string[]> {
  const { apiKeys, headers = [], path } = settings
  const [key] = apiKeys
  const wire = wireOfList(id, settings)
  const signIn = vendorOf(settings.vendor ?? id)?.signIn?.create({ provider: id, clock, path })
  const own = ['user-agent', 'parkway', 'accept', 'application/json', ...(wire?.headers ?? []), ...headers]
  return async (url) => {
    if (key === undefined) return own
    if (signIn === undefined) return [...own, ...headersOfKey(key, wire?.keyHeader ?? 'authorization')]
    const { origin, pathname, search } = new URL(url)
    return [...own, ...(await signIn.sign(key, { method: 'GET', origin, path: pathname + search, body: '' }))]
  }
}

function headersOfKey(key: string, name: ModelListWire['keyHeader']): string[] {
  return [name, name === 'authorization' ? `Bearer ${key}` : key]
}

/** Reads the lists of OpenAI, Anthropic, Google and Together. */
function readNames(answer: unknown): { names: string[] } | null {
  const list = listOf(answer)
  if (list === null) return null
  const names = list.flatMap((entry) => {
    const name = isRecord(entry) ? (entry['id'] ?? entry['name']) : null
    return typeof name === 'string' ? [name.replace(/^models\//, '')] : []
  })
  return { names }
}

function listOf(answer: unknown): readonly unknown[] | null {
  if (Array.isArray(answer)) return answer
  if (!isRecord(answer)) return null
  const list = answer['data'] ?? answer['models']
  return Array.isArray(list) ? list : null
}

function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}
