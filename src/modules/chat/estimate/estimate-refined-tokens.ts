import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { CompletionRequest } from '../../../wires/openai-completions/completion-request.ts'
import { countInputs, countTokenIds, textsOf } from '../../../wires/text-input.ts'
import { countVocabularyTokens, TextTokens } from '../../../kernel/tokens/text-tokens.ts'
import { estimateMediaTokens, partsOf } from './estimate-media-tokens.ts'
import type { EstimateProfile } from './estimate-profile.ts'
import { completionOverheadTokens, hasStructure, hiddenReadingTokens } from './estimate-prompt-tokens.ts'

const TOKENS_PER_MESSAGE = 16
const TOKENS_PER_PART = 8
/** A structure rendered for the model uses other punctuation than JSON: at most half as many tokens more. */
const STRUCTURE_FACTOR = 1.5

/** Counts more exactly than by bytes. Takes milliseconds. */
export function refineChatPromptTokens(profile: EstimateProfile, body: ChatRequest): number {
  const text = createText(profile)
  const structure = createText(profile)
  let tokens = profile.family.hiddenTokens + hiddenReadingTokens(profile, body)
  let isStructured = hasStructure(body)
  for (const message of body.messages) {
    const { role: _role, content, ...others } = message
    tokens += TOKENS_PER_MESSAGE
    if (message.tool_calls) isStructured = true
    if (typeof content === 'string') text.add(content)
    else if (content) {
      tokens += content.length * TOKENS_PER_PART
      for (const part of content) {
        if (part.type === 'text') text.add(part.text)
        if (part.type === 'refusal') text.add(part.refusal)
      }
    }
    addMembers(structure, others)
  }
  tokens += estimateMediaTokens(partsOf(body), profile.family, profile.contextTokens).tokens
  if (isStructured) tokens += profile.family.toolTokens
  addMembers(structure, body)
  return tokens + text.tokens + Math.ceil(structure.tokens * STRUCTURE_FACTOR)
}

export function refineCompletionPromptTokens(profile: EstimateProfile, body: CompletionRequest): number {
  const { prompt, suffix } = body
  const prompts = countInputs(prompt)
  const text = createText(profile)
  for (const entry of textsOf(prompt)) text.add(entry)
  const suffixText = createText(profile)
  suffixText.add(suffix ?? '')
  const idTokens = Math.ceil((countTokenIds(prompt) ?? 0) * profile.family.tokensPerEncodedToken)
  return idTokens + text.tokens + suffixText.tokens * prompts + completionOverheadTokens(profile, prompts)
}

/** Takes a few milliseconds for ordinary text, some tens for text that is not in the vocabulary. */
const WHOLE_TOKENS_MAX = 4096
const SAMPLE_MARGIN = 1.1

function createText({ family, encoding }: EstimateProfile): TextTokens {
  return new TextTokens({
    count: (text) => countVocabularyTokens(text, family, encoding),
    wholeTokensMax: WHOLE_TOKENS_MAX,
    sampleMargin: SAMPLE_MARGIN,
  })
}

/** Members that upstreams do not show to the model. Others may be part of the prompt, so they are counted. */
const SETTINGS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'temperature',
  'top_p',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'stop',
  'n',
  'parallel_tool_calls',
  'seed',
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'presence_penalty',
  'frequency_penalty',
  'reasoning_effort',
  'think',
  'user',
  'metadata',
])

function addMembers(structure: TextTokens, members: object): void {
  for (const [name, value] of Object.entries(members)) {
    if (SETTINGS.has(name) || value === null || value === undefined) continue
    structure.add(typeof value === 'string' ? value : stringifyJson(value))
  }
}
