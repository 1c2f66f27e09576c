import { createAnthropicBatches } from './anthropic-batches.ts'
import type { BatchApi } from './batch-api.ts'
import { BatchClient, type BatchClientOptions } from './batch-client.ts'
import { createGoogleBatches } from './google-batches.ts'
import { createOpenAiBatches } from './openai-batches.ts'
import {
  AZURE_DIALECT,
  GROQ_DIALECT,
  MISTRAL_DIALECT,
  OPENAI_DIALECT,
  TOGETHER_DIALECT,
} from './openai-dialects.ts'

/** The batch API of a vendor. */
export interface VendorBatches {
  readonly form: 'openai' | 'azure' | 'groq' | 'mistral' | 'together' | 'anthropic' | 'google'
  /** What a line costs by the vendor's price list, in millionths of the price of a request. */
  readonly priceMillionths: bigint
}

const HALF = 500_000n
export const halfPrice = (form: VendorBatches['form']): VendorBatches => ({ form, priceMillionths: HALF })

/** For a vendor whose discount depends on the model. The operator sets the factors of models that have one. */
export const wholePrice = (form: VendorBatches['form']): VendorBatches => ({
  form,
  priceMillionths: 2n * HALF,
})

interface FormTraits {
  /** Null: each customer has an address. */
  readonly baseUrl: string | null
  readonly keyHeader: BatchClientOptions['keyHeader']
  readonly headers?: readonly string[]
  readonly create: (client: BatchClient, priceMillionths: bigint) => BatchApi
}

const FORMS: Readonly<Record<VendorBatches['form'], FormTraits>> = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    keyHeader: 'authorization',
    create: (client, price) => createOpenAiBatches(client, OPENAI_DIALECT, price),
  },
  azure: {
    baseUrl: null,
    keyHeader: 'api-key',
    create: (client, price) => createOpenAiBatches(client, AZURE_DIALECT, price),
  },
  together: {
    baseUrl: 'https://api.together.xyz/v1',
    keyHeader: 'authorization',
    create: (client, price) => createOpenAiBatches(client, TOGETHER_DIALECT, price),
  },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    keyHeader: 'authorization',
    create: (client, price) => createOpenAiBatches(client, GROQ_DIALECT, price),
  },
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    keyHeader: 'authorization',
    create: (client, price) => createOpenAiBatches(client, MISTRAL_DIALECT, price),
  },
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    keyHeader: 'x-api-key',
    headers: ['anthropic-version', '2023-06-01'],
    create: createAnthropicBatches,
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    keyHeader: 'x-goog-api-key',
    create: createGoogleBatches,
  },
}

type Settings = Pick<BatchClientOptions, 'apiKeys' | 'headers' | 'path'> & { readonly baseUrl: string | null }

/** Null for a vendor without a batch API, or without a key. */
export function createBatchApi(
  provider: string,
  batches: VendorBatches | undefined,
  { apiKeys, headers, path, baseUrl }: Settings,
): { readonly api: BatchApi; close(): Promise<void> } | null {
  if (batches === undefined || apiKeys.length === 0) return null
  const { baseUrl: usual, keyHeader, headers: own = [], create } = FORMS[batches.form]
  const address = baseUrl ?? usual
  if (address === null) return null
  const client = new BatchClient({
    provider,
    baseUrl: address,
    apiKeys,
    keyHeader,
    headers: [...own, ...headers],
    path,
  })
  return { api: create(client, batches.priceMillionths), close: () => client.close() }
}
