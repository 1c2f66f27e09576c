import { systemClock } from '../../kernel/clock.ts'
import type { EmbeddingRequest } from '../../wires/openai-embeddings/embedding-request.ts'
import { ringOptionsOf } from '../ai-sdk/lazy-provider.ts'
import { loadOnce } from '../ai-sdk/load-once.ts'
import type { EmbeddingVendor } from '../ai-sdk/text/embedding-operation.ts'
import type { Vendor } from '../ai-sdk/vendor.ts'
import { createCredentialRing } from '../connection/credential-ring.ts'
import type { NativeRequest } from '../native-wire.ts'
import { createOpenAiCompatibleProvider } from '../openai-compatible/openai-compatible.ts'
import { createWireClient, type WireClient } from '../openai-compatible/wire-client.ts'
import type { InferenceOperation, Provider } from '../provider.ts'
import type { CloudOptions } from './cloud-options.ts'

/** What a cloud has at one address. Code that only some models need is loaded by their first request. */
interface CloudParts {
  readonly openAi: {
    /** The form of the address of OpenAI's wire, and its path below the cloud's. */
    readonly form: string
    readonly path: string
    /** Returns the name of a model that is called by it, or null. */
    readonly nameOf: (upstreamModel: string) => string | null
  }
  readonly isClaude: (upstreamModel: string) => boolean
  readonly createMessages: (provider: string, client: WireClient) => InferenceOperation<NativeRequest>
  /** The translations of chat: for Claude, and for the models that are neither Claude nor called by OpenAI's wire. */
  readonly loadVendors: () => Promise<{ readonly claude: Vendor; readonly others: Vendor }>
  readonly loadEmbeddings: () => Promise<EmbeddingVendor>
}

/** Creates a provider for a cloud with models of several publishers, each of which is called by its own wire. */
export function createCloudProvider(
  options: CloudOptions,
  { openAi: form, isClaude, createMessages, loadVendors, loadEmbeddings }: CloudParts,
): Provider & { close(): Promise<void> } {
  const { id, apiKeys, clock = systemClock, headers = [], baseUrl, signIn } = options
  const shared = {
    credentials: createCredentialRing(apiKeys, { ...ringOptionsOf(options), provider: id, clock }),
    headers,
    connectTimeoutMs: options.connectTimeoutMs,
    path: options.path,
    signIn,
  }
  const client = createWireClient({ ...shared, provider: id, baseUrl })
  const openAi = createOpenAiCompatibleProvider({
    ...shared,
    upstream: { id, defaultBaseUrl: form.form },
    baseUrl: baseUrl + form.path,
  })
  const loadChat = loadOnce(async () => {
    const [{ createAiSdkChat }, { claude, others }] = await Promise.all([
      import('../ai-sdk/ai-sdk-chat.ts'),
      loadVendors(),
    ])
    return { claude: createAiSdkChat(claude, options), others: createAiSdkChat(others, options) }
  })
  const embedding = loadOnce(async (): Promise<InferenceOperation<EmbeddingRequest>> => {
    const [{ createEmbeddingOperation }, vendor] = await Promise.all([
      import('../ai-sdk/text/embedding-operation.ts'),
      loadEmbeddings(),
    ])
    return createEmbeddingOperation(vendor, options)
  })
  return {
    id,
    isConfigured: true,
    // Nothing says that a request whose connection is closed is not billed to its end.
    onDisconnect: 'continues',
    chat: async (call) => {
      const name = form.nameOf(call.upstreamModel)
      if (name !== null && openAi.chat !== undefined) return openAi.chat({ ...call, upstreamModel: name })
      const { claude, others } = await loadChat()
      return isClaude(call.upstreamModel) ? claude(call) : others(call)
    },
    embedding: async (call) => (await embedding())(call),
    native: { 'anthropic-messages': createMessages(id, client) },
    isNative: isClaude,
    close: async () => {
      await client.close()
      await openAi.close()
    },
  }
}
