import { startScriptedServer, type ScriptedReply, type ScriptedServer } from '../upstreams/scripted-server.ts'

/** Starts a local server with OpenAI's chat completions API, which most vendors support. */
export async function startOpenAiServer(): Promise<ScriptedServer> {
  const server = await startScriptedServer(openAiCompletion({ role: 'assistant', content: 'Hello there' }))
  return { ...server, baseUrl: `${server.baseUrl}/v1` }
}

interface UsageParts {
  readonly cached: number
  readonly reasoning: number
}

function usageOf({ cached, reasoning }: UsageParts = { cached: 0, reasoning: 0 }): object {
  return {
    prompt_tokens: 9,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens: 4,
    completion_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: 13,
  }
}

const IDENTITY = { id: 'chatcmpl-upstream', created: 1_760_000_000, model: 'upstream-model' }

export function openAiCompletion(message: object, finishReason = 'stop', parts?: UsageParts): ScriptedReply {
  const completion = {
    ...IDENTITY,
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    usage: usageOf(parts),
  }
  return { headers: { 'content-type': 'application/json' }, chunks: [JSON.stringify(completion)] }
}

interface StreamOptions {
  readonly finishReason?: string
  readonly ending?: ScriptedReply['ending']
  readonly parts?: UsageParts | undefined
}

export function openAiStream(
  deltas: readonly object[],
  { finishReason = 'stop', ending = 'end', parts }: StreamOptions = {},
): ScriptedReply {
  const chunks = [
    ...deltas.map((delta) => chunk({ choices: [{ index: 0, delta, finish_reason: null }] })),
    ...(ending === 'end'
      ? [
          chunk({ choices: [{ index: 0, delta: {}, finish_reason: finishReason }] }),
          chunk({ choices: [], usage: usageOf(parts) }),
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
