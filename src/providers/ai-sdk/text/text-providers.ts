import type { EmbeddingRequest } from '../../../wires/openai-embeddings/embedding-request.ts'
import type { InferenceOperation, Provider } from '../../provider.ts'
import type { RerankRequest } from '../../../wires/rerank/rerank-request.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import { loadOnce } from '../load-once.ts'
import type { EmbeddingVendor } from './embedding-operation.ts'
import type { RerankVendor } from './rerank-operation.ts'

/** Creates the provider of Cohere's embeddings and reranking. */
export function createCohereProvider(options: AiSdkProviderOptions): Provider {
  const load = () => import('./cohere-vendor.ts')
  return {
    id: 'cohere',
    isConfigured: options.apiKeys.length > 0,
    embedding: createLazyEmbedding(options, async () => (await load()).cohereEmbeddings),
    rerank: createLazyRerank(options, async () => (await load()).cohereReranking),
  }
}

/** Creates the provider of Voyage's embeddings and reranking. */
export function createVoyageProvider(options: AiSdkProviderOptions): Provider {
  const load = () => import('./voyage-vendor.ts')
  return {
    id: 'voyage',
    isConfigured: options.apiKeys.length > 0,
    embedding: createLazyEmbedding(options, async () => (await load()).voyageEmbeddings),
    rerank: createLazyRerank(options, async () => (await load()).voyageReranking),
  }
}

/** Creates the provider of Google's embeddings, which is combined with that of its chat models. */
export function createGoogleEmbeddingProvider(options: AiSdkProviderOptions): Provider {
  const load = () => import('./google-embeddings.ts')
  return {
    id: 'google',
    isConfigured: options.apiKeys.length > 0,
    embedding: createLazyEmbedding(options, async () => (await load()).googleEmbeddings),
  }
}

function createLazyEmbedding(
  options: AiSdkProviderOptions,
  load: () => Promise<EmbeddingVendor>,
): InferenceOperation<EmbeddingRequest> {
  const operation = loadOnce(async () => {
    const [{ createEmbeddingOperation }, vendor] = await Promise.all([
      import('./embedding-operation.ts'),
      load(),
    ])
    return createEmbeddingOperation(vendor, options)
  })
  return async (call) => (await operation())(call)
}

function createLazyRerank(
  options: AiSdkProviderOptions,
  load: () => Promise<RerankVendor>,
): InferenceOperation<RerankRequest> {
  const operation = loadOnce(async () => {
    const [{ createRerankOperation }, vendor] = await Promise.all([import('./rerank-operation.ts'), load()])
    return createRerankOperation(vendor, options)
  })
  return async (call) => (await operation())(call)
}
