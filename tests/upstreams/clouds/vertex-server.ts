import {
  anthropicBlock,
  anthropicMessage,
  anthropicMessageEnd,
  anthropicMessageStart,
  anthropicStream,
} from '../anthropic-server.ts'
import { vectorOf } from '../embedding-servers.ts'
import { googleBody, googleChunk, googleContent, googleError, googleStream } from '../google-server.ts'
import { chunksOf, completion, stream } from '../openai-server.ts'
import {
  startScriptedServer,
  type RecordedRequest,
  type ScriptedReply,
  type ScriptedServer,
} from '../scripted-server.ts'
import { CLOUD_SCOPE, PROJECT } from './google-token-server.ts'
import type { TokenServer } from './token-server.ts'

const LOCATION = 'europe-west1'
const PLACE = `/v1/projects/${PROJECT}/locations/${LOCATION}`

export interface VertexServer extends ScriptedServer {
  /** As an operator configures it. */
  readonly address: string
  readonly answer: (request: RecordedRequest) => ScriptedReply
}

/** Vertex AI for one project in one location, from the pages that the descriptor and the adapters name. */
export async function startVertexServer(tokens: TokenServer): Promise<VertexServer> {
  const answer = (request: RecordedRequest): ScriptedReply => {
    const { authorization, 'x-goog-api-key': key, 'x-api-key': otherKey } = request.headers
    if (!tokens.accepts(authorization, CLOUD_SCOPE) || key !== undefined || otherKey !== undefined)
      return googleError(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
    if (request.path.startsWith('/v1beta1/publishers/')) return answerList(request.path)
    if (!request.path.startsWith(`${PLACE}/`))
      return googleError(403, 'PERMISSION_DENIED', `Permission denied on resource project ${PROJECT}.`)
    return answerModel(request)
  }
  const server = await startScriptedServer(answer)
  return { ...server, requests: server.requests, answer, address: server.baseUrl + PLACE }
}

// oxlint-disable-next-line typescript/no-explicit-any -- a server of a test fails loudly on a wrong shape
type Body = any

function answerModel(request: RecordedRequest): ScriptedReply {
  const path = request.path.slice(PLACE.length)
  const body = request.body as Body
  if (path === '/endpoints/openapi/chat/completions')
    return body.stream === true ? stream(chunksOf('Hello', ' there')) : completion()
  const [, publisher, model = '', operation = ''] =
    /^\/publishers\/(\w+)\/models\/([^:?]+):(\w+)(?:\?alt=sse)?$/.exec(path) ?? []
  if (publisher === 'anthropic') return answerClaude(operation, body)
  if (publisher !== 'google') return googleError(404, 'NOT_FOUND', 'Not found')
  return operation === 'predict' ? answerEmbedding(model, body) : answerGemini(operation, body)
}

/** https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models/list, in two pages. */
function answerList(path: string): ScriptedReply {
  const { pathname, searchParams } = new URL(path, 'http://vertex')
  const token = searchParams.get('pageToken')
  const listed = PUBLISHED[pathname.split('/').at(-2) ?? ''] ?? []
  const models = listed.slice(token === null ? 0 : 1, token === null ? 1 : undefined)
  return googleBody({
    publisherModels: models.map(([id, versionId]) => ({ name: `publishers/google/models/${id}`, versionId })),
    ...(token === null ? { nextPageToken: 'second page' } : {}),
  })
}

const PUBLISHED: Readonly<Record<string, readonly (readonly [id: string, version: string])[]>> = {
  google: [
    ['gemini-3-pro', 'default'],
    ['gemini-embedding-001', 'default'],
    ['imagen-4.0-generate-001', 'default'],
  ],
  anthropic: [
    ['claude-sonnet-4-5', '20250929'],
    ['claude-opus-5', 'default'],
  ],
}

function answerGemini(operation: string, body: Body): ScriptedReply {
  const usageMetadata = {
    promptTokenCount: 9,
    cachedContentTokenCount: 5,
    candidatesTokenCount: 4,
    totalTokenCount: 13,
  }
  const wantsTool = body.tools !== undefined && body.contents.length === 1
  const parts = wantsTool
    ? [{ functionCall: { name: 'weather', args: { city: 'Oslo' } } }]
    : [{ text: 'Hello ' }, { text: 'there' }]
  if (operation === 'generateContent') return googleContent(parts, { usageMetadata })
  return googleStream(
    parts.map((part, index) =>
      googleChunk([part], { usageMetadata, finishReason: index === parts.length - 1 ? 'STOP' : undefined }),
    ),
  )
}

function answerClaude(operation: string, body: Body): ScriptedReply {
  if ('model' in body || body.anthropic_version !== 'vertex-2023-10-16')
    return googleError(400, 'INVALID_ARGUMENT', 'anthropic_version: Field required')
  const isStream = operation === 'streamRawPredict'
  if (isStream !== (body.stream === true))
    return googleError(400, 'INVALID_ARGUMENT', 'stream: wrong operation')
  const usage = { input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 6 }
  if (!isStream) return anthropicMessage({ content: [{ type: 'text', text: 'Hello there' }], usage })
  const deltas = ['Hello', ' there'].map((text) => ({ type: 'text_delta', text }))
  return anthropicStream([
    anthropicMessageStart({ ...usage, output_tokens: 1 }),
    ...anthropicBlock(0, { type: 'text', text: '' }, deltas),
    ...anthropicMessageEnd('end_turn'),
  ])
}

function answerEmbedding(model: string, { instances, parameters }: Body): ScriptedReply {
  if (model.startsWith('gemini-') && instances.length > 1)
    return googleError(400, 'INVALID_ARGUMENT', 'Only one instance is supported.')
  const predictions = instances.map(({ content }: { content: string }) => ({
    embeddings: {
      values: vectorOf(content).slice(0, parameters.outputDimensionality ?? 3),
      statistics: { truncated: false, token_count: 2 },
    },
  }))
  return googleBody({ predictions })
}
