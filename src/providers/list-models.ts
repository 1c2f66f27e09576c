import { isRecord } from '../kernel/is-record.ts'
import { parseJson } from '../kernel/json/parse-json.ts'
import { requestOnce } from './connection/request-once.ts'
import type { ProviderSettings } from './create-provider.ts'
import { UpstreamError, type UpstreamErrorDetails } from './failures/upstream-error.ts'
import type { ModelListWire } from './vendor-descriptor.ts'
import { vendorOf } from './vendors.ts'

const ANSWER_BYTES_MAX = 8 * 1024 * 1024
const MODELS_MAX = 5_000
const NAME_LENGTH_MAX = 256
const WAIT_MS_MAX = 15_000

/** Whether the models of such a provider can be listed. */
export function canListModels(id: string, settings: ProviderSettings): boolean {
  return wireOfList(id, settings) !== null
}

/** Returns the names of the models that the provider's first key can see. Throws only `UpstreamError`. */
export async function listModels(
  id: string,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const fail = (message: string, details: Omit<UpstreamErrorDetails, 'provider'>) =>
    new UpstreamError(`${id} ${message}`, { provider: id, ...details })
  const wire = wireOfList(id, settings)
  if (wire === null) throw fail('has no list of models', { failure: 'invalid_answer' })
  const { status, text } = await requestOnce({
    url: `${(settings.baseUrl ?? wire.baseUrl).replace(/\/+$/, '')}${wire.path}`,
    method: 'GET',
    headers: headersOf(wire, settings),
    path: settings.path,
    signal: AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS_MAX)]),
    bytesMax: ANSWER_BYTES_MAX,
  }).catch((cause: unknown) => {
    throw fail('did not send its list of models', { failure: 'connect', cause })
  })
  if (status < 200 || status > 299) throw fail(`answered ${status}`, { failure: 'status', status })
  const names = readNames(text)
  if (names === null) throw fail('answered with no list of models', { failure: 'invalid_answer' })
  return names
}

function wireOfList(id: string, { vendor: vendorId = id, baseUrl }: ProviderSettings): ModelListWire | null {
  const vendor = vendorOf(vendorId)
  // Their keys may be documents, which only requests to models are signed with.
  if (vendor?.signIn !== undefined) return null
  if (vendor?.modelList !== undefined) return vendor.modelList
  const address = baseUrl ?? vendor?.wire?.defaultBaseUrl ?? null
  if (address === null || (vendor !== undefined && vendor.wire === undefined)) return null
  return { baseUrl: address, keyHeader: 'authorization', path: '/models' }
}

function headersOf(wire: ModelListWire, { apiKeys, headers = [] }: ProviderSettings): string[] {
  const [key] = apiKeys
  const credential = wire.keyHeader === 'authorization' ? `Bearer ${key}` : key
  return [
    'user-agent',
    'parkway',
    'accept',
    'application/json',
    ...(wire.headers ?? []),
    ...headers,
    ...(credential === undefined || key === undefined ? [] : [wire.keyHeader, credential]),
  ]
}

/** Reads the lists of OpenAI, Anthropic, Google and Together. */
function readNames(text: string): string[] | null {
  const list = listOf(parse(text))
  if (list === null) return null
  const names = list.flatMap((entry) => {
    const name = isRecord(entry) ? (entry['id'] ?? entry['name']) : null
    return typeof name === 'string' && name.length <= NAME_LENGTH_MAX ? [name.replace(/^models\//, '')] : []
  })
  return [...new Set(names)].slice(0, MODELS_MAX)
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
