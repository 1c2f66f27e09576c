import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chatModel, embeddingModel, routesOf, startCloudGateway } from './start-cloud-gateway.ts'
import { createAzure, createBedrock, createVertex, type TestedCloud } from './tested-clouds.ts'

const CLAUDE_ON_BEDROCK = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const CLAUDE_ON_VERTEX = 'claude-sonnet-4-5@20250929'
const GEMINI = 'gemini-3-pro'
const DEPLOYMENT = 'our-deployment'
/** The names of their settings begin with it. */
const PREFIXES = { azure: 'AZURE_OPENAI', bedrock: 'BEDROCK', vertex: 'VERTEX' } as const

/** Starts one gateway that signs in to all three clouds by tokens that end. */
export async function startThreeClouds() {
  const azure = await createAzure()
  let passedMs = 0
  const bedrock = await createBedrock(() => Date.now() + passedMs)
  const vertex = await createVertex()
  const clouds = { azure, bedrock, vertex }
  const gateway = await startCloudGateway({
    models: [
      chatModel('azure', 'azure', DEPLOYMENT),
      chatModel('bedrock', 'bedrock', CLAUDE_ON_BEDROCK),
      chatModel('vertex', 'vertex', GEMINI),
      chatModel('vertex-claude', 'vertex', CLAUDE_ON_VERTEX),
      chatModel('new-azure', 'new-azure', DEPLOYMENT),
      chatModel('new-bedrock', 'new-bedrock', CLAUDE_ON_BEDROCK),
      chatModel('new-vertex', 'new-vertex', GEMINI),
      embeddingModel('azure-embedding', 'azure', 'our-embedding'),
      embeddingModel('bedrock-embedding', 'bedrock', 'amazon.titan-embed-text-v2:0'),
      embeddingModel('vertex-embedding', 'vertex', 'gemini-embedding-001'),
      routesOf('azure-first', [
        { provider: 'azure', model: DEPLOYMENT },
        { provider: 'vertex', model: GEMINI },
      ]),
      routesOf('bedrock-first', [
        { provider: 'bedrock', model: CLAUDE_ON_BEDROCK },
        { provider: 'azure', model: DEPLOYMENT },
      ]),
      routesOf('vertex-first', [
        { provider: 'vertex', model: GEMINI },
        { provider: 'bedrock', model: CLAUDE_ON_BEDROCK },
      ]),
    ],
    settings: async (directory) => {
      const settings: Record<string, string> = { PARKWAY_REFERENCE_DIRECTORIES: directory }
      for (const cloud of Object.values(clouds)) {
        const file = join(directory, `${cloud.id}.json`)
        await writeFile(file, JSON.stringify(await cloud.document(directory)))
        settings[`${PREFIXES[cloud.id]}_BASE_URL`] = cloud.address
        settings[`${PREFIXES[cloud.id]}_SIGN_IN`] = file
      }
      return settings
    },
  })
  return {
    gateway,
    clouds,
    /** Moves the clock of the gateway, and of the keys of AWS, whose end is a moment. */
    pass: (ms: number) => {
      passedMs += ms
      gateway.pass(ms)
    },
    /** Adds the provider `new-<cloud>` anew, which has no token yet. */
    addNew: async (
      { id, ...cloud }: TestedCloud,
      { address = cloud.address, members = {} }: Partial<TestedCloud['elsewhere']> = {},
    ) => {
      const name = `new-${id}`
      const file = join(gateway.directory, `${name}.json`)
      await writeFile(file, JSON.stringify({ ...(await cloud.document(gateway.directory)), ...members }))
      await gateway.request('DELETE', `/v1/admin/providers/${name}`)
      const body = {
        name,
        vendor: id,
        base_url: address,
        secret_ref: `file:${file}`,
      }
      return gateway.request('POST', '/v1/admin/providers', { body })
    },
    reset: () => {
      for (const { server, tokens } of Object.values(clouds)) {
        server.requests.length = 0
        tokens.requests.length = 0
        server.respondWith()
        tokens.respondWith()
      }
    },
    close: async () => {
      await gateway.close()
      for (const { server, tokens } of Object.values(clouds)) {
        await server.close()
        await tokens.close()
      }
    },
  }
}
