import type { Prompt } from '../compare/read-prompts.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

interface Asked {
  readonly model: string
  /** `CHAT` or `IMAGES`. */
  readonly endpoint: string
  readonly system: string | undefined
  readonly maxTokens: number | undefined
  /** Of images. */
  readonly size: string | undefined
}

/** The endpoints of batches that are made of prompts. */
export const CHAT = '/v1/chat/completions'
export const IMAGES = '/v1/images/generations'

const SHORT_NAMES: Readonly<Record<string, string>> = {
  chat: CHAT,
  responses: '/v1/responses',
  messages: '/v1/messages',
  embeddings: '/v1/embeddings',
  images: IMAGES,
  edits: '/v1/images/edits',
}

/** Returns the path of an endpoint that is told by its path or a short name. */
export function readEndpoint(told: string): string {
  return Object.hasOwn(SHORT_NAMES, told) ? (SHORT_NAMES[told] ?? told) : told
}

/** Makes a request of each prompt, as a line of a batch. */
export function toBatchLines(prompts: readonly Prompt[], asked: Asked): string {
  const lines = prompts.map((prompt, index) => JSON.stringify(toLine(prompt, index + 1, asked)))
  return `${lines.join('\n')}\n`
}

function toLine(prompt: Prompt, number: number, asked: Asked): object {
  const { model, endpoint, system, maxTokens, size } = asked
  const { id, messages, prompt: text, ...rest } = typeof prompt === 'string' ? { prompt } : prompt
  const custom_id = typeof id === 'string' ? id : `line-${number}`
  if (endpoint === IMAGES) {
    if (typeof text !== 'string')
      throw new CommandFailure(EXIT.usage, `Prompt ${number} has no "prompt", which an image is made of.`)
    // In the answers themselves, many images would be a file of gigabytes.
    const body = { model, prompt: text, response_format: 'url', ...(size !== undefined && { size }) }
    return { custom_id, method: 'POST', url: endpoint, body }
  }
  const own = rest['system'] ?? system
  const content = Array.isArray(messages) ? messages : [{ role: 'user', content: text }]
  if (!Array.isArray(messages) && typeof text !== 'string')
    throw new CommandFailure(EXIT.usage, `Prompt ${number} has neither "prompt" nor "messages".`)
  return {
    custom_id,
    method: 'POST',
    url: endpoint,
    body: {
      model,
      ...(maxTokens === undefined ? {} : { max_completion_tokens: maxTokens }),
      messages: typeof own === 'string' ? [{ role: 'system', content: own }, ...content] : content,
    },
  }
}
