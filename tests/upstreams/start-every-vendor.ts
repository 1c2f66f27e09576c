import { PROVIDER_VARIABLES } from '../../src/app/settings/provider-settings.ts'
import { startAnthropicServer } from './anthropic-server.ts'
import { startDeepgramServer, startElevenLabsServer } from './audio-servers.ts'
import { answerGoogleEmbedding, startCohereServer, startVoyageServer } from './embedding-servers.ts'
import { googleContent } from './google-server.ts'
import { startVendorServer, type VendorWire } from './media/vendor-server.ts'
import { VENDOR_KEY, VENDOR_WIRES } from './media/vendor-wires.ts'
import { answerOpenAiText } from './openai-text-wire.ts'
import type { ScriptedReply } from './scripted-server.ts'

/** A local vendor with all its operations under one address. */
interface RunningVendor {
  /** Base URL as an operator configures it. */
  readonly baseUrl: string
  readonly requests: readonly { readonly path: string; readonly text: string }[]
  close(): Promise<void>
}

export interface EveryVendor {
  /** The environment of a gateway with an account at each vendor. */
  readonly settings: Record<string, string>
  get(providerId: string): RunningVendor
  close(): Promise<void>
}

/** Starts local servers of these providers. Each refuses a request without its key. */
export async function startEveryVendor(providerIds: readonly string[]): Promise<EveryVendor> {
  const vendors = new Map<string, RunningVendor>()
  for (const id of providerIds) vendors.set(id, await startVendor(id))
  const settings = [...vendors].flatMap(([id, { baseUrl }]) => Object.entries(settingsOf(id, baseUrl)))
  return {
    settings: Object.fromEntries(settings),
    get(providerId) {
      const vendor = vendors.get(providerId)
      if (vendor === undefined) throw new Error(`${providerId} was not started`)
      return vendor
    },
    async close() {
      for (const vendor of vendors.values()) await vendor.close()
    },
  }
}

const OWN_SERVERS: Readonly<Record<string, () => Promise<RunningVendor>>> = {
  anthropic: startAnthropicServer,
  cohere: startCohereServer,
  voyage: startVoyageServer,
  elevenlabs: startElevenLabsServer,
  deepgram: startDeepgramServer,
}

async function startVendor(id: string): Promise<RunningVendor> {
  const start = OWN_SERVERS[id]
  if (start) return start()
  const { wire: mediaWire, basePath } = VENDOR_WIRES[id] ?? { wire: () => null, basePath: '/v1' }
  const textWire = id === 'google' ? answerGoogleText : answerOpenAiText
  const server = await startVendorServer((request, state) => {
    const reply = textWire(request)
    return reply === null ? mediaWire(request, state) : ifKeyIsShown(request, reply)
  })
  return { baseUrl: server.origin + basePath, requests: server.requests, close: () => server.close() }
}

function ifKeyIsShown({ headers }: Parameters<VendorWire>[0], reply: ScriptedReply) {
  const key = headers['x-goog-api-key'] ?? headers.authorization?.replace('Bearer ', '')
  if (key !== VENDOR_KEY) return { status: 401, body: { error: { message: 'Incorrect API key provided.' } } }
  return {
    headers: reply.headers ?? {},
    bytes: Buffer.concat(reply.chunks.map((chunk) => Buffer.from(chunk))),
  }
}

/** Google's image and video requests are recognised by the model's name. */
function answerGoogleText({ path, body }: { path: string; body: unknown }): ScriptedReply | null {
  if (/:(batchE|e)mbedContents?$/.test(path)) return answerGoogleEmbedding({ path, body })
  const isText = path.endsWith(':generateContent') && !path.includes('image') && !path.includes('banana')
  return isText ? googleContent([{ text: 'Hello there' }]) : null
}

function settingsOf(id: string, baseUrl: string): Record<string, string> {
  const variables = PROVIDER_VARIABLES.find((known) => known.id === id)
  const [keyName] = variables?.apiKey ?? []
  const [urlName] = variables?.baseUrl ?? []
  if (keyName === undefined || urlName === undefined) throw new Error(`${id} cannot be configured`)
  const secretName = variables?.secretKey
  if (secretName === undefined) return { [keyName]: VENDOR_KEY, [urlName]: baseUrl }
  const [key = '', secret = ''] = VENDOR_KEY.split(':')
  return { [keyName]: key, [secretName]: secret, [urlName]: baseUrl }
}
