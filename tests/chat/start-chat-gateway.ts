import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../support/start-test-gateway.ts'
import { startOpenAiServer, type OpenAiServer } from '../upstreams/openai-server.ts'

export interface ChatGateway extends TestGateway {
  /** What `OPENAI_BASE_URL` points to. */
  upstream: OpenAiServer
}

export interface ChatGatewayOptions extends TestGatewayOptions {
  /** Entries for the operator's catalog file. */
  models?: readonly object[]
  /** Further providers that the same server plays, each under a path of its own: `/groq/v1`. */
  providers?: readonly string[]
}

export const UPSTREAM_KEY = 'sk-upstream-credential'

/** A gateway whose OpenAI is a local server. */
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
      // What else OpenAI speaks, this server does not.
      OPENAI_WIRES: 'openai-chat',
      ...(models ? { PARKWAY_CATALOG_FILE: catalogFile } : {}),
      ...Object.fromEntries(providers.flatMap((provider) => variablesOf(provider, upstream))),
      ...options.settings,
    },
  })
  return {
    ...gateway,
    upstream,
    close: async () => {
      await gateway.close()
      await upstream.close()
      await rm(directory, { recursive: true, force: true })
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

/** An entry of the operator's catalog: a dollar for a million tokens in, ten out, a tenth of a dollar cached. */
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

/** The smallest chat request. `gpt-4o-mini` costs 0.15 in, 0.075 cached, 0.6 out. */
export function chatBody(members: object = {}): object {
  return { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], ...members }
}
