import { generateKeyPairSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROLE, startAwsIdentityServer } from '../../upstreams/clouds/aws-identity-server.ts'
import { answerAzure, startAzureServer } from '../../upstreams/clouds/azure-server.ts'
import { ACCOUNT, REGION, refuse } from '../../upstreams/clouds/bedrock-replies.ts'
import { startBedrockServer } from '../../upstreams/clouds/bedrock-server.ts'
import { CLIENT, CLIENT_SECRET, startEntraServer, TENANT } from '../../upstreams/clouds/entra-server.ts'
import {
  PROJECT,
  SERVICE_ACCOUNT,
  startGoogleTokenServer,
} from '../../upstreams/clouds/google-token-server.ts'
import { startVertexServer } from '../../upstreams/clouds/vertex-server.ts'
import { googleError } from '../../upstreams/google-server.ts'
import { failure } from '../../upstreams/openai-server.ts'
import type { RecordedRequest, ScriptedReply, ScriptedServer } from '../../upstreams/scripted-server.ts'

const WEB_TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJwb2QifQ.c2ln'

/** What the promises of every cloud are checked with. */
export interface TestedCloud {
  readonly id: 'azure' | 'bedrock' | 'vertex'
  readonly server: ScriptedServer
  /** The server that issues what signs its requests. */
  readonly tokens: ScriptedServer
  /** Everything that was issued is worth nothing from now on. */
  revokeAll(): void
  /** The usual answer of the server. */
  answer(request: RecordedRequest): ScriptedReply
  /** How the cloud says that there are too many requests. */
  throttled(retryAfter?: string): ScriptedReply
  /** What no client may see. */
  readonly secrets: RegExp
  /** The address that an operator configures, and the document that signs in. */
  readonly address: string
  document(directory: string): Promise<object>
  /** The models that it lists, or why it lists none. */
  readonly listed: readonly string[] | string
  /** A place that the credential is not for, and what the cloud says of it. */
  readonly elsewhere: { readonly address?: string; readonly members?: object; readonly said: RegExp }
}

function retryHeader(retryAfter: string | undefined): Record<string, string> {
  return retryAfter === undefined ? {} : { 'retry-after': retryAfter }
}

export async function createAzure(): Promise<TestedCloud> {
  const tokens = await startEntraServer({ assertion: () => '' })
  const server = await startAzureServer(tokens)
  return {
    id: 'azure',
    server,
    tokens,
    revokeAll: () => tokens.revokeAll(),
    answer: (request) => answerAzure(request, tokens),
    throttled: (retryAfter) =>
      failure(429, { code: '429', message: `Deployment of ${TENANT} is busy` }, retryHeader(retryAfter)),
    secrets: new RegExp([TENANT, CLIENT, server.baseUrl].join('|')),
    address: `${server.baseUrl}/openai/v1`,
    listed: 'deployments',
    // The token is that of another service.
    elsewhere: {
      members: { scope: 'https://management.azure.com/.default' },
      said: /could not sign in.*invalid_scope/,
    },
    document: async () => ({
      type: 'entra_client_secret',
      tenant_id: TENANT,
      client_id: CLIENT,
      client_secret: CLIENT_SECRET,
      authority_host: tokens.baseUrl,
    }),
  }
}

export async function createBedrock(nowMs: () => number): Promise<TestedCloud> {
  const server = await startBedrockServer()
  const { identities } = server
  const tokens = await startAwsIdentityServer({ identities, webToken: WEB_TOKEN, nowMs })
  return {
    id: 'bedrock',
    server,
    tokens,
    revokeAll: () => identities.clear(),
    answer: server.answer,
    throttled: (retryAfter) =>
      refuse(429, 'ThrottlingException', `Too many tokens of ${ACCOUNT}`, retryHeader(retryAfter)),
    secrets: new RegExp(`${ACCOUNT}|arn:|ASIA`),
    address: server.baseUrl,
    listed: [
      'amazon.nova-pro-v1:0',
      'amazon.titan-embed-text-v2:0',
      'eu.amazon.nova-pro-v1:0',
      'eu.meta.llama3-2-3b-instruct-v1:0',
      `anthropic/arn:aws:bedrock:${REGION}:${ACCOUNT}:application-inference-profile/team-a`,
      `arn:aws:bedrock:${REGION}:${ACCOUNT}:application-inference-profile/team-b`,
    ],
    elsewhere: { members: { region: 'us-east-1' }, said: /scoped to a valid region/ },
    document: async (directory) => {
      const file = join(directory, 'web-token')
      await writeFile(file, WEB_TOKEN)
      return {
        type: 'aws_web_identity',
        role_arn: ROLE,
        token_file: file,
        sts_endpoint: tokens.baseUrl,
        region: REGION,
      }
    },
  }
}

export async function createVertex(): Promise<TestedCloud> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const tokens = await startGoogleTokenServer({ publicKey })
  const server = await startVertexServer(tokens)
  return {
    id: 'vertex',
    server,
    tokens,
    revokeAll: () => tokens.revokeAll(),
    answer: server.answer,
    throttled: (retryAfter) => {
      const reply = googleError(429, 'RESOURCE_EXHAUSTED', `Quota of projects/${PROJECT} exceeded`)
      return { ...reply, headers: { ...reply.headers, ...retryHeader(retryAfter) } }
    },
    secrets: new RegExp(`${PROJECT}|gserviceaccount`),
    address: server.address,
    listed: ['gemini-3-pro', 'gemini-embedding-001', 'claude-sonnet-4-5@20250929', 'claude-opus-5'],
    elsewhere: {
      address: server.address.replace('europe-west1', 'us-east5'),
      said: /Permission denied on resource project/,
    },
    document: async () => ({
      type: 'service_account',
      project_id: PROJECT,
      private_key: privateKey,
      client_email: SERVICE_ACCOUNT,
      token_uri: `${tokens.baseUrl}/token`,
    }),
  }
}
