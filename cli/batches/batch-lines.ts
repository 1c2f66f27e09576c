import type { Prompt } from '../compare/read-prompts.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

interface Asked {
  readonly model: string
  readonly system: string | undefined
  readonly maxTokens: number | undefined
}

/** The endpoint of batches that are made of prompts. */
export const CHAT = '/v1/chat/completions'

/** Makes a chat request of each prompt, as a line of a batch. */
export function toBatchLines(prompts: readonly Prompt[], asked: Asked): string {
  const lines = prompts.map((prompt, index) => JSON.stringify(toLine(prompt, index + 1, asked)))
  return `${lines.join('\n')}\n`
}

function toLine(prompt: Prompt, number: number, { model, system, maxTokens }: Asked): object {
  const { id, messages, prompt: text, ...rest } = typeof prompt === 'string' ? { prompt } : prompt
  const own = rest['system'] ?? system
  const content = Array.isArray(messages) ? messages : [{ role: 'user', content: text }]
  if (!Array.isArray(messages) && typeof text !== 'string')
    throw new CommandFailure(EXIT.usage, `Prompt ${number} has neither "prompt" nor "messages".`)
  return {
    custom_id: typeof id === 'string' ? id : `line-${number}`,
    method: 'POST',
    url: CHAT,
    body: {
      model,
      ...(maxTokens === undefined ? {} : { max_completion_tokens: maxTokens }),
      messages: typeof own === 'string' ? [{ role: 'system', content: own }, ...content] : content,
    },
  }
}
