import { isRecord } from '../../../kernel/is-record.ts'
import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import type { ChatRequest, ChatTool } from '../../../wires/openai-chat/chat-request.ts'
import { nameOfTool, selectTools, type ToolSelection } from '../../requests/select-tools.ts'
import { jsonFromSchema } from '../schemas/json-from-schema.ts'
import type { Conversation } from './read-conversation.ts'
import type { SeededRandom } from '../../../kernel/seeded-random.ts'
import { createSuggestions, splitByNames } from '../schemas/suggest-values.ts'
import { textFromPattern } from '../schemas/text-from-pattern.ts'
import { createWorkBudget } from '../work-budget.ts'

export interface ToolCallDraft {
  readonly id: string
  readonly type: ChatTool['type']
  readonly name: string
  /** JSON text for a function, plain text for a custom tool. */
  readonly argumentsText: string
}

const CALLS_MAX = 8

/** Returns the tool calls that a model would make: none, one, or several if parallel calls are allowed. */
export function callTools(
  body: ChatRequest,
  conversation: Conversation,
  random: SeededRandom,
): ToolCallDraft[] {
  const isParallel = body.parallel_tool_calls !== false
  const chosen = chooseTools(selectTools(body), conversation).slice(0, isParallel ? CALLS_MAX : 1)
  const texts =
    isParallel && chosen.length === 1 ? splitByNames(conversation.userText) : [conversation.userText]
  return chosen.flatMap((tool) => distinct(texts.map((text) => draftCall(tool, text, random))))
}

function chooseTools({ tools, choice }: ToolSelection, conversation: Conversation): ChatTool[] {
  if (choice === 'none') return []
  if (typeof choice === 'object' && choice !== null)
    return tools.filter((tool) => nameOfTool(tool) === choice.toolName).slice(0, 1)

  const mentioned = listMentioned(tools, conversation.userText)
  if (choice === 'required') return mentioned.length > 0 ? mentioned : tools.slice(0, 1)
  // The answer is composed from the tool results. Calling the tools again would never end.
  return conversation.toolResults.length > 0 ? [] : mentioned
}

/** Returns the tools that the text mentions by name, or otherwise those that share words with it, best match first. */
function listMentioned(tools: readonly ChatTool[], userText: string): ChatTool[] {
  const text = userText.toLowerCase()
  const named = tools.filter((tool) => text.includes(nameOfTool(tool).toLowerCase()))
  if (named.length > 0) return named
  const textWords = new Set(splitWords(userText))
  return tools
    .map((tool) => ({ tool, score: scoreTool(tool, textWords) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score)
    .map(({ tool }) => tool)
}

const DESCRIPTION_LENGTH_MAX = 1000
const DESCRIPTION_WORDS_MIN = 2

function scoreTool(tool: ChatTool, textWords: ReadonlySet<string>): number {
  const { name, description } = tool.type === 'function' ? tool.function : tool.custom
  const count = (words: readonly string[]): number => words.filter((word) => textWords.has(word)).length
  const inName = count(splitWords(name))
  const inDescription = count(splitWords((description ?? '').slice(0, DESCRIPTION_LENGTH_MAX)))
  return 10 * inName + (inName > 0 || inDescription >= DESCRIPTION_WORDS_MIN ? inDescription : 0)
}

const COMMON_WORDS = new Set(
  'the and for with from get set all any this that what which who how are you your can could would please use tool tools call function give tell show list make run new current user value values data info information into about over under have has does returns return given one two'.split(
    ' ',
  ),
)

// Treats singular and plural as the same word.
function splitWords(text: string): string[] {
  const spaced = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase()
  const words = spaced.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length >= 3 && !COMMON_WORDS.has(word))
  return [...new Set(words.map((word) => (word.length > 3 ? word.replace(/s$/, '') : word)))]
}

function draftCall(tool: ChatTool, text: string, random: SeededRandom): ToolCallDraft {
  const { type } = tool
  const argumentsText =
    type === 'custom' ? composeToolInput(tool, text, random) : fillArguments(tool, text, random)
  return { id: `call_${random.hex(24)}`, type, name: nameOfTool(tool), argumentsText }
}

function fillArguments(
  { function: { parameters } }: Extract<ChatTool, { type: 'function' }>,
  text: string,
  random: SeededRandom,
): string {
  const schema = parameters ?? { type: 'object', properties: {} }
  const made = jsonFromSchema({ type: 'object', ...schema }, { random, suggest: createSuggestions(text) })
  return stringifyJson(isRecord(made) ? made : {})
}

function distinct(calls: readonly ToolCallDraft[]): ToolCallDraft[] {
  const seen = new Set<string>()
  return calls
    .filter(({ argumentsText }) => !seen.has(argumentsText) && seen.add(argumentsText))
    .slice(0, CALLS_MAX)
}

const INPUT_LENGTH_MAX = 1000

type CustomTool = Extract<ChatTool, { type: 'custom' }>

/** Returns the input of a custom tool: text that its regular expression matches, or otherwise the user's text. */
function composeToolInput(tool: CustomTool, userText: string, random: SeededRandom): string {
  const pattern = readPattern(tool)
  const matching =
    pattern === null
      ? null
      : textFromPattern(pattern, random, {
          lengthMin: 0,
          lengthMax: INPUT_LENGTH_MAX,
          budget: createWorkBudget(),
        })
  if (matching !== null) return matching
  const [suggested] = createSuggestions(userText)('input', 'string')
  return typeof suggested === 'string' ? suggested : userText.slice(0, INPUT_LENGTH_MAX)
}

// Grammars of the other syntax, Lark, would need a parser generator.
function readPattern({ custom: { format } }: CustomTool): string | null {
  return format?.grammar?.syntax === 'regex' ? format.grammar.definition : null
}
