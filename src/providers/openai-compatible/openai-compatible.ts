import type { CredentialRing } from '../connection/credential-ring.ts'
import type { NetworkPath } from '../connection/network-path.ts'
import type { InferenceAnswer, InferenceCall, Provider } from '../provider.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { createEmbedding } from './embedding.ts'
import { createImage } from './image.ts'
import { createNativeWires } from './native.ts'
import { prepareOther, prepareRequest, type PreparableRequest } from './prepare-request.ts'
import { readAnswer, readBody } from './read-answer.ts'
import { createRerank } from './rerank.ts'
import { createSpeech } from './speech.ts'
import { createTranscription } from './transcription.ts'
import type { OpenAiCompatibleUpstream, WireOperation } from './upstream.ts'
import { createWireClient, type WireClient } from './wire-client.ts'

interface OpenAiCompatibleOptions {
  readonly upstream: OpenAiCompatibleUpstream
  readonly baseUrl: string
  /** Null if the upstream needs no key. */
  readonly credentials: CredentialRing | null
  /** Sent with every request, as alternating names and values. */
  readonly headers?: readonly string[]
  readonly connectTimeoutMs: number
  readonly path?: NetworkPath | undefined
  /** Writes the headers of a credential, if the upstream has a way of its own. */
  readonly signIn?: SignIn | undefined
}

/** Creates a provider for an upstream that speaks the gateway's own wire. Bytes are forwarded with only the necessary changes. */
export function createOpenAiCompatibleProvider(
  options: OpenAiCompatibleOptions,
): Provider & Pick<WireClient, 'close' | 'isIdle'> {
  const { upstream } = options
  const client = createWireClient({
    ...options,
    provider: upstream.id,
    credentialHeader: upstream.credentialHeader,
  })
  const forward = createForward(upstream, client)
  return {
    id: upstream.id,
    isConfigured: true,
    ...(upstream.defaultBaseUrl === null ? { isOwnServer: true } : {}),
    ...(upstream.localSlots === undefined ? {} : { localSlots: upstream.localSlots }),
    ...(upstream.onDisconnect === undefined ? {} : { onDisconnect: upstream.onDisconnect }),
    ...(upstream.lacksChat ? {} : { chat: (call) => forward('/chat/completions', call) }),
    ...(upstream.hasLegacyCompletion ? { completion: (call) => forward('/completions', call) } : {}),
    ...createOperations(upstream, client),
    ...createNativeWires(upstream, client),
    close: () => client.close(),
    isIdle: () => client.isIdle(),
  }
}

function createOperations(upstream: OpenAiCompatibleUpstream, client: WireClient): Partial<Provider> {
  const operations: Partial<Provider> = {}
  for (const name of upstream.operations ?? []) Object.assign(operations, OPERATIONS[name](upstream, client))
  return operations
}

type CreateOperation = (upstream: OpenAiCompatibleUpstream, client: WireClient) => Partial<Provider>

const OPERATIONS: Readonly<Record<WireOperation, CreateOperation>> = {
  embedding: (upstream, client) => ({ embedding: createEmbedding(upstream, client) }),
  rerank: (_, client) => ({ rerank: createRerank(client) }),
  moderation: (upstream, client) => ({
    moderation: async (call) => {
      const response = await client.post('/moderations', prepareOther(upstream, call), call)
      return { kind: 'complete', payload: readBody(upstream.id, response) }
    },
  }),
  image: (upstream, client) => ({ image: createImage(upstream, client) }),
  speech: (upstream, client) => ({ speech: createSpeech(upstream, client) }),
  transcription: (_, client) => ({ transcription: createTranscription(client) }),
}

function createForward(upstream: OpenAiCompatibleUpstream, client: WireClient) {
  return async (path: string, call: InferenceCall<PreparableRequest>): Promise<InferenceAnswer> => {
    const response = await client.post(path, prepareRequest(upstream, call), call)
    return readAnswer(upstream.id, response, call.body.stream === true)
  }
}
