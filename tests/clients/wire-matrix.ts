import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModel } from 'ai'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { openAiNatively } from './responses-vendor.ts'
import { VENDORS, type Vendor } from './vendors.ts'

interface WireClient {
  readonly client: string
  readonly connect: (gateway: Pick<TestGateway, 'baseUrl' | 'key'>, model: string) => LanguageModel
  readonly operation: 'messages' | 'responses'
}

const MESSAGES: WireClient = {
  client: '@ai-sdk/anthropic',
  connect: ({ baseUrl, key }, model) => createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey: key })(model),
  operation: 'messages',
}

const RESPONSES: WireClient = {
  client: '@ai-sdk/openai',
  connect: ({ baseUrl, key }, model) => createOpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key })(model),
  operation: 'responses',
}

export const WIRE_CLIENTS: readonly WireClient[] = [MESSAGES, RESPONSES]

/** Each wire combined with each kind of upstream. */
export const MATRIX: readonly (WireClient & { readonly vendor: Vendor })[] = [
  ...VENDORS.map((vendor) => ({ ...MESSAGES, vendor })),
  ...[...VENDORS, openAiNatively].map((vendor) => ({ ...RESPONSES, vendor })),
]
