import { Type, type Static } from 'typebox'
import { invalidValue } from '../../kernel/app-error.ts'
import { nullable } from '../../wires/nullable.ts'
import { ChatRequest, type ChatMessage } from '../../wires/openai-chat/chat-request.ts'
import { checkExpected } from './scores/score-output.ts'

export const PROMPTS_MAX = 1_000
const TEXT_LENGTH_MAX = 1_000_000
const ID_LENGTH_MAX = 200

const Text = Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX })
const CaseObject = Type.Object({
  id: nullable(Type.String({ maxLength: ID_LENGTH_MAX, description: 'Your own, for the results.' })),
  prompt: nullable(Text, 'The prompt.'),
  input: nullable(
    Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX, description: 'The same as `prompt`.' }),
  ),
  messages: nullable(ChatRequest.properties.messages),
  system: nullable(Type.String({ maxLength: TEXT_LENGTH_MAX }), 'The system prompt.'),
  expected: Type.Optional(
    Type.Unknown({
      description:
        'A text that is to be answered exactly, any other JSON that is to be answered as JSON, or ' +
        '`{type: exact|contains|regex|json|judge, value}`.',
    }),
  ),
})

/** A prompt in a request. */
export const PromptInput = Type.Union([Text, CaseObject])
export const PromptInputs = Type.Array(PromptInput, { minItems: 1, maxItems: PROMPTS_MAX })
type PromptInput = Static<typeof PromptInput>

/** A stored prompt. */
export interface PromptCase {
  /** The client's own. */
  readonly id: string | null
  readonly messages: readonly ChatMessage[]
  /** Null when nothing is expected. */
  readonly expected: unknown
}

/** Throws with the name of the field, below `param`. */
export function toPromptCases(inputs: readonly PromptInput[], param: string): PromptCase[] {
  return inputs.map((input, index) => toPromptCase(input, `${param}.${index}`))
}

function toPromptCase(input: PromptInput, param: string): PromptCase {
  if (typeof input === 'string') return { id: null, messages: [asked(input)], expected: null }
  const text = input.prompt ?? input.input
  const { messages, system, expected } = input
  if ((text ?? null) === null && (messages ?? null) === null)
    throw invalidValue(param, `'${param}' must have either prompt or messages.`)
  if (typeof text === 'string' && Array.isArray(messages))
    throw invalidValue(param, `'${param}' must have either prompt or messages, not both.`)
  checkExpected(expected, `${param}.expected`)
  const said = messages ?? [asked(text ?? '')]
  return {
    id: input.id ?? null,
    messages: typeof system === 'string' ? [{ role: 'system', content: system }, ...said] : said,
    expected: expected ?? null,
  }
}

function asked(content: string): ChatMessage {
  return { role: 'user', content }
}
