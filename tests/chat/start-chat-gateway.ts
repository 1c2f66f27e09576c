import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../support/start-test-gateway.ts'
import { startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'
import { removeDirectory } from '../support/remove-directory.ts'

export interface ChatGateway extends TestGateway {
  /** The server that `OPENAI_BASE_URL` points to. */
  upstream: OpenAiServer
  /** The operator's catalog file, if there are models. */
  catalogFile: string
}

export interface ChatGatewayOptions extends TestGatewayOptions {
  /** Entries for the operator's catalog file. */
  models?: readonly object[]
  /** More providers that the same server simulates, each under its own path, for example `/groq/v1`. */
  providers?: readonly string[]
}

export const UPSTREAM_KEY = 'sk-upstream-credential'

/** Starts a gateway that uses a local server as OpenAI. */
export async function startChatGateway(options: ChatGatewayOptions = {}): Promise<ChatGateway> {
  const { models, providers = [], ...gatewayOptions } = options
  const upstream = await startOpenAiServer()
  const directory = await mkdtemp(join(tmpdir(), 'parkway-chat-'))
  const catalogFile = join(directory, 'catalog.json')
  if (models) await writeFile(catalogFile, JSON.stringify({ models }))
  const gateway = await startTestGateway({
    ...gatewayOptions,
    settings: {
      OPENAI_API_KEY: UPSTREAM_KEY,
      OPENAI_BASE_URL: upstream.apiUrl,
      // The local server supports only this one of the wires that OpenAI has.
      OPENAI_WIRES: 'openai-chat',
      ...(models ? { PARKWAY_CATALOG_FILE: catalogFile } : {}),
      ...Object.fromEntries(providers.flatMap((provider) => variablesOf(provider, upstream))),
      ...options.settings,
    },
  })
  return {
    ...gateway,
    upstream,
    catalogFile,
    close: async () => {
      await gateway.close()
      await upstream.close()
      await removeDirectory(directory)
    },
  }
}

function variablesOf(provider: string, upstream: OpenAiServer): [string, string][] {
  const prefix = provider.toUpperCase()
  return [
    [`${prefix}_API_KEY`, UPSTREAM_KEY],
    [`${prefix}_BASE_URL`, `${upstream.baseUrl}/${provider}/v1`],
  ]
}

/** Builds an entry of the operator's catalog. Per million tokens: $1 input, $10 output, $0.10 cached input. */
export function modelEntry(id: string, routes: readonly object[], members: object = {}): object {
  return {
    id,
    name: id,
    vendor: 'Test',
    category: 'llm',
    context_tokens: 100_000,
    capabilities: ['chat', 'reasoning'],
    price: { unit: 'token', input_usd_per_1m: 1, cached_input_usd_per_1m: 0.1, output_usd_per_1m: 10 },
    routes,
    ...members,
  }
}

export const CHAT = '/v1/chat/completions'
export const COMPLETIONS = '/v1/completions'

/** Builds the smallest chat request. Prices of `gpt-4o-mini` per million tokens: $0.15 input, $0.075 cached, $0.60 output. */
export function chatBody(members: object = {}): object {
  return { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], ...members }
}
