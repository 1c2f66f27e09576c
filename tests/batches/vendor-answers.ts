/** The wire of a vendor. */
export type Form = 'openai' | 'azure' | 'together' | 'anthropic' | 'google'

/** Whose lines and answers are those of OpenAI. */
export const isLikeOpenAi = (form: string | undefined): form is 'openai' | 'azure' | 'together' =>
  form === 'openai' || form === 'azure' || form === 'together'

export interface Line {
  readonly id: string
  readonly prompt: string
}

/** Of every answer. */
export const TOKENS = { prompt: 1_000, completion: 100 }

type Ending = 'answered' | 'failed' | 'expired'

/** One line of the results of a batch. */
export function writeResult(form: Form, { id, prompt }: Line, ending: Ending, usage?: object): object {
  const answer = { ...answerOf(form, prompt), ...usage }
  const error = { message: 'a bad prompt', type: 'invalid_request_error' }
  if (isLikeOpenAi(form)) {
    const response =
      ending === 'answered' ? { status_code: 200, body: answer } : { status_code: 400, body: { error } }
    return ending === 'expired'
      ? { custom_id: id, response: null, error: { code: 'batch_expired' } }
      : { custom_id: id, response, error: null }
  }
  if (form === 'anthropic') {
    const errored = { type: 'errored', error: { type: 'error', error } }
    const result = {
      answered: { type: 'succeeded', message: answer },
      failed: errored,
      expired: { type: 'expired' },
    }
    return { custom_id: id, result: result[ending] }
  }
  const failed = { code: ending === 'failed' ? 3 : 4, message: 'a bad prompt' }
  return { metadata: { key: id }, ...(ending === 'answered' ? { response: answer } : { error: failed }) }
}

/** The answer of a model, which repeats the prompt. */
export function answerOf(form: Form, prompt: string): object {
  if (isLikeOpenAi(form))
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_750_000_000,
      model: 'gpt-4o-mini',
      choices: [{ index: 0, message: { role: 'assistant', content: prompt }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: TOKENS.prompt,
        completion_tokens: TOKENS.completion,
        total_tokens: TOKENS.prompt + TOKENS.completion,
      },
    }
  if (form === 'anthropic')
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-5',
      content: [{ type: 'text', text: prompt }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: TOKENS.prompt, output_tokens: TOKENS.completion },
    }
  return {
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: prompt }] }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: TOKENS.prompt,
      candidatesTokenCount: TOKENS.completion,
      totalTokenCount: TOKENS.prompt + TOKENS.completion,
    },
  }
}
