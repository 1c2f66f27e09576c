import { startScriptedServer, type ScriptedReply, type ScriptedServer } from '../upstreams/scripted-server.ts'

/** A local server that speaks OpenAI's chat completions, as most vendors do. */
export async function startOpenAiServer(): Promise<ScriptedServer> {
  const server = await startScriptedServer(openAiCompletion({ role: 'assistant', content: 'Hello there' }))
  return { ...server, baseUrl: `${server.baseUrl}/v1` }
}

const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
const IDENTITY = { id: 'chatcmpl-upstream', created: 1_760_000_000, model: 'upstream-model' }

export function openAiCompletion(message: object, finishReason = 'stop'): ScriptedReply {
  const completion = {
    ...IDENTITY,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    usage: USAGE,
  }
  return { headers: { 'content-type': 'application/json' }, chunks: [JSON.stringify(completion)] }
}

export function openAiStream(
  deltas: readonly object[],
  { finishReason = 'stop', ending = 'end' }: { finishReason?: string; ending?: ScriptedReply['ending'] } = {},
): ScriptedReply {
  const chunks = [
    ...deltas.map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] })),
    ...(ending === 'end'
      ? [
          chunk({ choices: [{ index: 0, delta: {}, finish_reason: finishReason }] }),
          chunk({ choices: [], usage: USAGE }),
          'data: [DONE]\n\n',
        ]
      : []),
  ]
  return { headers: { 'content-type': 'text/event-stream' }, chunks, ending: ending ?? 'end' }
}

export function openAiError(status: number, message: string): ScriptedReply {
  const body = { error: { message, type: 'invalid_request_error', param: null, code: null } }
  return { status, headers: { 'content-type': 'application/json' }, chunks: [JSON.stringify(body)] }
}

function chunk(members: object): string {
  return `data: ${JSON.stringify({ ...IDENTITY, object: 'chat.completion.chunk', ...members })}\n\n`
}
