import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeDirectory } from '../../support/remove-directory.ts'
import { startTestGateway, type TestGateway } from '../../support/start-test-gateway.ts'

export interface CloudGateway extends TestGateway {
  /** A directory for files that the gateway reads. */
  readonly directory: string
  /** Moves the clock of the gateway forward. */
  pass(ms: number): void
}

const PRICE = { unit: 'token', input_usd_per_1m: 1, cached_input_usd_per_1m: 0.1, output_usd_per_1m: 2 }
const CHAT_MODEL = {
  vendor: 'Acme',
  category: 'llm',
  context_tokens: 200_000,
  max_output_tokens: 4_096,
  capabilities: ['chat', 'tool_use', 'vision'],
  price: PRICE,
}

/** Names a chat model of the operator's catalog whose only route leads to the provider. */
export function chatModel(id: string, provider: string, model: string): object {
  return routesOf(id, [{ provider, model }])
}

/** The same for a model with several routes, which are tried in their order. */
export function routesOf(
  id: string,
  routes: readonly { readonly provider: string; readonly model: string }[],
): object {
  return { ...CHAT_MODEL, id, name: id, routes }
}

export function embeddingModel(id: string, provider: string, model: string): object {
  return {
    id,
    name: id,
    vendor: 'Acme',
    category: 'embedding',
    context_tokens: 8_192,
    capabilities: [],
    price: { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 0 },
    routes: [{ provider, model }],
  }
}

interface CloudGatewayOptions {
  readonly models: readonly object[]
  readonly settings: (directory: string) => Record<string, string> | Promise<Record<string, string>>
}

export async function startCloudGateway({ models, settings }: CloudGatewayOptions): Promise<CloudGateway> {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-cloud-'))
  const catalogFile = join(directory, 'catalog.json')
  await writeFile(catalogFile, JSON.stringify({ models }))
  let passedMs = 0
  const gateway = await startTestGateway({
    machineClock: {
      nowMs: () => Date.now() + passedMs,
      monotonicMs: () => performance.now() + passedMs,
    },
    settings: { PARKWAY_CATALOG_FILE: catalogFile, ...(await settings(directory)) },
  })
  return {
    ...gateway,
    directory,
    pass: (ms) => {
      passedMs += ms
    },
    close: async () => {
      await gateway.close()
      await removeDirectory(directory)
    },
  }
}
