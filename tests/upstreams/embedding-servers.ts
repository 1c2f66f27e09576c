import { json } from './openai-server.ts'
import {
  startScriptedServer,
  type RecordedRequest,
  type ScriptedReply,
  type ScriptedServer,
} from './scripted-server.ts'

/** Returns a vector that identifies its text. */
export function vectorOf(text: string): number[] {
  return [text.length, text.charCodeAt(0), 0.5]
}

// oxlint-disable-next-line typescript/no-explicit-any -- a server of a test fails loudly on a wrong shape
type Body = any

/** Starts a local server for Cohere's `/v2/embed` and `/v2/rerank`. */
export async function startCohereServer(): Promise<ScriptedServer> {
  return startAt('/v2', ({ path, body }: { path: string; body: Body }) =>
    path.endsWith('/rerank')
      ? json({
          id: 'c0',
          results: ranked(body.documents, body.top_n),
          meta: { api_version: { version: '2' }, billed_units: { search_units: 3 } },
        })
      : json({
          id: 'c1',
          embeddings: { float: body.texts.map(vectorOf) },
          texts: body.texts,
          meta: { api_version: { version: '2' }, billed_units: { input_tokens: body.texts.length * 2 } },
        }),
  )
}

/** Starts a local server for Voyage's `/v1/embeddings` and `/v1/rerank`. */
export async function startVoyageServer(): Promise<ScriptedServer> {
  return startAt('/v1', ({ path, body }: { path: string; body: Body }) =>
    path.endsWith('/rerank')
      ? json({
          object: 'list',
          data: ranked(body.documents, body.top_k),
          model: body.model,
          usage: { total_tokens: 9 },
        })
      : json({
          object: 'list',
          data: body.input.map((text: string, index: number) => ({
            object: 'embedding',
            embedding: vectorOf(text),
            index,
          })),
          model: body.model,
          usage: { total_tokens: body.input.length * 2 },
        }),
  )
}

/** Starts a local server for Google's `embedContent` and `batchEmbedContents`. */
export async function startGoogleEmbeddingServer(): Promise<ScriptedServer> {
  return startAt('/v1beta', answerGoogleEmbedding)
}

export function answerGoogleEmbedding({ path, body }: { path: string; body: Body }): ScriptedReply {
  const valuesOf = ({ content }: Body) => ({ values: vectorOf(content.parts[0].text) })
  return path.endsWith(':batchEmbedContents')
    ? json({ embeddings: body.requests.map(valuesOf) })
    : json({ embedding: valuesOf(body) })
}

async function startAt(
  path: string,
  reply: (request: RecordedRequest) => ScriptedReply,
): Promise<ScriptedServer> {
  const server = await startScriptedServer(reply)
  return { ...server, baseUrl: `${server.baseUrl}${path}` }
}

/** Ranks the longest text first. */
function ranked(documents: string[], count: number) {
  return documents
    .map((document, index) => ({ index, relevance_score: document.length / 100 }))
    .toSorted((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, count)
}
