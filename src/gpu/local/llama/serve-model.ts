import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { parseJson } from '../../../kernel/json/parse-json.ts'
import { answerChat, sendJson } from './answer-chat.ts'
import { parseChatRequest } from './chat-request.ts'
import { createEmbedder } from './embed-texts.ts'
import { EngineError, toErrorBody } from './engine-error.ts'
import { generateAnswer } from './generate-answer.ts'
import type { LoadedModel } from './load-model.ts'
import { planGeneration } from './plan-generation.ts'
import { createSequencePool, type SequencePool } from './sequence-pool.ts'

interface ServeOptions {
  readonly loaded: LoadedModel
  readonly alias: string
  readonly say: (line: string) => void
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
}

type Handler = (exchange: Exchange) => Promise<void> | void

const BODY_BYTES_MAX = 16 * 1024 * 1024

/** Creates the server with OpenAI's API for one model. */
export function serveModel({ loaded, alias, say }: ServeOptions): Server {
  const pool = createSequencePool(loaded.context)
  const embed = createEmbedder(loaded)
  const handlers: Readonly<Record<string, Handler>> = {
    'GET /health': ({ response }) =>
      sendJson(response, 200, { status: 'ok', in_use: pool.inUse, waiting: pool.waiting }),
    'GET /metrics': ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
      response.end(writeMetrics(pool))
    },
    'GET /v1/models': ({ response }) =>
      sendJson(response, 200, {
        object: 'list',
        data: [{ id: alias, object: 'model', owned_by: 'local', max_model_len: loaded.contextSize }],
      }),
    'POST /v1/chat/completions': async ({ request, response, signal }) => {
      const asked = parseChatRequest(await readJson(request))
      const plan = await planGeneration(loaded, asked)
      await pool.use(plan.prompt, signal, (sequence) =>
        answerChat({
          response,
          model: alias,
          request: asked,
          generate: (onPiece) => generateAnswer({ loaded, plan, request: asked, sequence, signal, onPiece }),
        }),
      )
    },
    'POST /v1/embeddings': async ({ request, response, signal }) => {
      const { vectors, tokens } = await embed(await readJson(request), signal)
      sendJson(response, 200, {
        object: 'list',
        model: alias,
        data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      })
    },
  }
  return createServer((request, response) => {
    const left = new AbortController()
    response.on('close', () => left.abort(new Error('the client has left')))
    const [path] = (request.url ?? '').split('?')
    const handler = handlers[`${request.method} ${path}`] ?? notFound
    const answer = async () => handler({ request, response, signal: left.signal })
    answer().catch((error: unknown) => {
      if (left.signal.aborted) return
      const told = error instanceof EngineError ? error : new EngineError(500, 'The engine failed.')
      if (told.status >= 500) say(`a request failed: ${error instanceof Error ? error.stack : String(error)}`)
      // After the headers are sent, an error can only be signalled by closing the connection.
      if (response.headersSent) response.destroy()
      else {
        // Close the connection, because the unread rest of the body would be parsed as the next request.
        if (!request.complete) {
          response.setHeader('connection', 'close')
          response.on('finish', () => request.destroy())
        }
        sendJson(response, told.status, toErrorBody(told))
      }
    })
  })
}

/** Writes metrics with the names that llama.cpp's own server uses. */
function writeMetrics(pool: SequencePool): string {
  const { input, output } = pool.countTokens()
  return [
    `llamacpp:requests_processing ${pool.inUse}`,
    `llamacpp:requests_deferred ${pool.waiting}`,
    `llamacpp:prompt_tokens_total ${input}`,
    `llamacpp:tokens_predicted_total ${output}`,
    '',
  ].join('\n')
}

function notFound(): never {
  throw new EngineError(404, 'There is no such route.', { code: 'not_found' })
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new EngineError(413, `The body is larger than ${BODY_BYTES_MAX} bytes.`)
    chunks.push(chunk)
  }
  try {
    return parseJson(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new EngineError(400, 'The body is not JSON.')
  }
}
