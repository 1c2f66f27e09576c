import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CHAT, chatBody } from '../../chat/start-chat-gateway.ts'
import { readEvents } from '../../chat/read-events.ts'
import { POD_TOKEN, ROLE, startAwsIdentityServer } from '../../upstreams/clouds/aws-identity-server.ts'
import { ACCOUNT, REGION } from '../../upstreams/clouds/bedrock-replies.ts'
import { startBedrockServer } from '../../upstreams/clouds/bedrock-server.ts'
import { chatModel, embeddingModel, startCloudGateway } from './start-cloud-gateway.ts'

const ACCESS_KEY = 'AKIAIOSFODNN7EXAMPLE'
export const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
export const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
export const NOVA = 'eu.amazon.nova-pro-v1:0'
export const PROFILE_ARN = `arn:aws:bedrock:${REGION}:${ACCOUNT}:application-inference-profile/a1b2c3`
const WEB_TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJwb2QifQ.c2ln'
export const KEYS = {
  type: 'aws_keys',
  access_key_id: ACCESS_KEY,
  secret_access_key: SECRET,
  region: REGION,
}

/** Starts Bedrock, the servers that issue its keys, and a gateway that uses them. */
export async function startBedrockStage() {
  const bedrock = await startBedrockServer()
  const identity = await startAwsIdentityServer({ identities: bedrock.identities, webToken: WEB_TOKEN })
  const gateway = await startCloudGateway({
    models: [
      chatModel('claude', 'bedrock', CLAUDE),
      chatModel('claude-profile', 'bedrock', `anthropic/${PROFILE_ARN}`),
      chatModel('nova', 'bedrock', NOVA),
      chatModel('profile', 'bedrock', PROFILE_ARN),
      chatModel('open', 'bedrock', 'openai.gpt-oss-120b-1:0'),
      embeddingModel('titan', 'bedrock', 'amazon.titan-embed-text-v2:0'),
      embeddingModel('cohere', 'bedrock', 'cohere.embed-v4:0'),
      ...['key', 'session', 'profile', 'web', 'pod', 'region', 'wrong'].map((name) =>
        chatModel(`by-${name}`, `bedrock-${name}`, CLAUDE),
      ),
    ],
    settings: async (directory) => {
      const write = async (name: string, text: string) => {
        await writeFile(join(directory, name), text)
        return join(directory, name)
      }
      const credentials = await write(
        'credentials',
        `[team]\naws_access_key_id = ${ACCESS_KEY}\naws_secret_access_key = ${SECRET}\n`,
      )
      const webTokenFile = await write('web-token', WEB_TOKEN)
      const podTokenFile = await write('pod-token', POD_TOKEN)
      const documents = {
        profile: { type: 'aws_profile', profile: 'team', file: credentials },
        web: {
          type: 'aws_web_identity',
          role_arn: ROLE,
          token_file: webTokenFile,
          sts_endpoint: identity.baseUrl,
        },
        pod: { type: 'aws_container', uri: `${identity.baseUrl}/v1/credentials`, token_file: podTokenFile },
      }
      for (const [name, document] of Object.entries(documents))
        await write(`${name}.json`, JSON.stringify({ ...document, region: REGION }))
      return {
        BEDROCK_BASE_URL: bedrock.baseUrl,
        BEDROCK_SIGN_IN: JSON.stringify(KEYS),
        PARKWAY_REFERENCE_DIRECTORIES: directory,
      }
    },
  })
  const reset = (identityOfKeys: { endsAtMs?: number } = {}) => {
    bedrock.identities.set(ACCESS_KEY, { secretAccessKey: SECRET, ...identityOfKeys })
    bedrock.requests.length = 0
    identity.requests.length = 0
    bedrock.respondWith()
  }
  reset()
  return {
    bedrock,
    identity,
    gateway,
    reset,
    ask: (model: string, members: object = {}) =>
      gateway.request('POST', CHAT, { body: chatBody({ model, ...members }) }),
    streamChat: async (model: string, members: object = {}) =>
      readEvents(await gateway.fetch('POST', CHAT, { body: chatBody({ model, stream: true, ...members }) })),
    add: (name: string, members: object) =>
      gateway.request('POST', '/v1/admin/providers', {
        body: { name: `bedrock-${name}`, vendor: 'bedrock', base_url: bedrock.baseUrl, ...members },
      }),
    close: async () => {
      await gateway.close()
      await bedrock.close()
      await identity.close()
    },
  }
}

export const message = (members: object = {}) => ({
  model: 'claude',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Hi' }],
  ...members,
})
