import { chunk, completion, chunksOf, failure, json, stream, USAGE } from '../openai-server.ts'
import { answerOpenAiText } from '../openai-text-wire.ts'
import { startScriptedServer, type RecordedRequest, type ScriptedServer } from '../scripted-server.ts'
import { AZURE_SCOPE } from './entra-server.ts'
import type { TokenServer } from './token-server.ts'

export const AZURE_KEY = 'azure-key-0123456789abcdef'

/**
 * The v1 API of one resource, from https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle: the model is the name of a
 * deployment, and there is no `api-version`.
 */
export async function startAzureServer(entra: TokenServer): Promise<ScriptedServer> {
  return startScriptedServer((request) => answerAzure(request, entra))
}

export function answerAzure(request: RecordedRequest, entra: TokenServer) {
  const { headers, path, body } = request
  const hasKey = headers['api-key'] === AZURE_KEY && headers['authorization'] === undefined
  const hasToken = headers['api-key'] === undefined && entra.accepts(headers['authorization'], AZURE_SCOPE)
  if (!hasKey && !hasToken)
    return failure(401, { code: '401', message: 'Access denied due to invalid subscription key.' })
  const asked = body as { model?: string; stream?: boolean; tools?: unknown }
  if (asked.model !== 'our-deployment' && asked.model !== 'our-embedding')
    return failure(404, { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' })
  if (path === '/openai/v1/embeddings') return answerOpenAiText(request) ?? failure(404)
  if (path === '/openai/v1/responses') return json(RESPONSE)
  if (path !== '/openai/v1/chat/completions') return failure(404)
  if (asked.tools !== undefined) return callTool(asked.stream === true)
  return asked.stream === true ? stream(chunksOf('Hello', ' there')) : completion()
}

function callTool(isStream: boolean) {
  const message = { role: 'assistant', content: null }
  if (!isStream)
    return completion({
      choices: [{ index: 0, message: { ...message, tool_calls: [CALL] }, finish_reason: 'tool_calls' }],
    })
  return stream([
    chunk({ delta: { ...message, tool_calls: [{ index: 0, ...CALL }] } }),
    chunk({ finish_reason: 'tool_calls' }),
    chunk({ choices: [], usage: USAGE }),
  ])
}

const CALL = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_750_000_000,
  status: 'completed',
  model: 'our-deployment',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'natively', annotations: [] }],
    },
  ],
  usage: {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 2,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 11,
  },
}
