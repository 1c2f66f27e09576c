import type { ChatTool } from '../chat-wire.ts'
import type { SeededRandom } from './seeded-random.ts'
import { createSuggestions } from './suggest-values.ts'
import { textFromPattern } from './text-from-pattern.ts'
import { createWorkBudget } from './work-budget.ts'

const INPUT_LENGTH_MAX = 1000

type CustomTool = Extract<ChatTool, { type: 'custom' }>

/** What a custom tool is called with: text that its regular expression matches, or else what the user wrote. */
export function composeToolInput(tool: CustomTool, userText: string, random: SeededRandom): string {
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

// A grammar of the other syntax, Lark, would take a parser generator to follow.
function readPattern({ custom: { format } }: CustomTool): string | null {
  return format?.grammar?.syntax === 'regex' ? format.grammar.definition : null
}
