import { describeMedia } from '../request/describe-media.ts'
import { clip, type Conversation } from '../request/read-conversation.ts'
import type { SeededRandom } from '../../../kernel/seeded-random.ts'
import { WORDS } from './words.ts'

const QUOTE_LENGTH_MAX = 240

/** Composes an answer that says that it comes from the sandbox, quotes the user's message and adds a few sentences. */
export function composeText(conversation: Conversation, random: SeededRandom): string {
  const { userText, instructions, toolResults, media } = conversation
  const sentences: string[] = [random.pick(OPENINGS)]
  for (const { toolName, text } of toolResults)
    sentences.push(`${nameTool(toolName)} returned: ${text || '(nothing)'}`)
  sentences.push(...describeMedia(media))
  if (userText !== '') sentences.push(`${random.pick(QUOTINGS)} “${clip(userText, QUOTE_LENGTH_MAX)}”.`)
  else if (media.length === 0) sentences.push('Your message was empty.')
  if (instructions !== '' && /\b(system|developer|instruct\w*|prompt|told)\b/i.test(userText)) {
    sentences.push(`My instructions read: “${clip(instructions, QUOTE_LENGTH_MAX)}”.`)
  }
  sentences.push(...continueText(userText, random))
  return sentences.join(' ')
}

/** Composes the reasoning text. It is longer for more effort. */
export function composeReasoning(conversation: Conversation, effort: string, random: SeededRandom): string {
  const steps = [`The user wrote “${clip(conversation.userText, QUOTE_LENGTH_MAX)}”.`]
  const stepCount = STEPS_BY_EFFORT.get(effort) ?? 3
  for (let index = 1; index < stepCount; index += 1) {
    steps.push(`${random.pick(STEPS)} the ${random.pick(WORDS)} against the ${random.pick(WORDS)}.`)
  }
  steps.push('This is the sandbox, so a composed answer will do.')
  return steps.join(' ')
}

export function composeJsonObject(conversation: Conversation, random: SeededRandom): Record<string, unknown> {
  return {
    sandbox: true,
    question: clip(conversation.userText, QUOTE_LENGTH_MAX),
    answer: continueText(conversation.userText, random).join(' '),
    ...(conversation.toolResults.length > 0
      ? {
          tool_results: conversation.toolResults.map(({ toolName, text }) => ({
            tool: toolName,
            result: text,
          })),
        }
      : {}),
    confidence: random.below(101) / 100,
  }
}

/** Returns meaningless words, for answers of a given length. */
export function composeFiller(wordCount: number, random: SeededRandom): string {
  let text: string = random.pick(WORDS)
  for (let index = 1; index < wordCount; index += 1) text += ` ${random.pick(WORDS)}`
  return text
}

const OPENINGS = [
  'This is the Parkway sandbox; no model was asked.',
  'You are talking to the Parkway sandbox, not to a model.',
  'Parkway sandbox here, standing in for a real model.',
  'This answer was composed by the Parkway sandbox without a model.',
] as const

const QUOTINGS = ['You wrote', 'You asked', 'Your message was', 'I read'] as const

const STEPS = ['First, weigh', 'Then compare', 'Next, check', 'Now balance', 'After that, test'] as const

const STEPS_BY_EFFORT = new Map(
  Object.entries({
    minimal: 1,
    low: 2,
    medium: 3,
    high: 6,
    xhigh: 8,
    max: 8,
  }),
)

/** Replies by subject, which is recognised by a word or two. */
const SUBJECTS: readonly [RegExp, readonly [string, ...string[]]][] = [
  [/\b(hello|hi|hey|good (morning|evening|day))\b/i, ['Hello, and welcome!', 'Hi there, good to meet you!']],
  [/\bthank/i, ['You are welcome.', 'Glad to be of use.']],
  [
    /\b(translat|übersetz|tradui)/i,
    ['A model would give you the translation here.', 'The translation would stand here.'],
  ],
  [
    /\b(code|function|program|script|sql|python|typescript|javascript)\b/i,
    ['A model would write the code here.', 'The code would follow here.'],
  ],
  [
    /\b(summar|tl;?dr)/i,
    ['In short: everything works, and nothing was spent.', 'In a sentence: the request arrived whole.'],
  ],
  [
    /\b(list|steps|ideas)\b/i,
    [
      'Three things come to mind: a key, a model and a budget.',
      'One: a plan. Two: a test. Three: a release.',
    ],
  ],
  [
    /\?\s*$/,
    [
      'A model would know the answer; the sandbox only knows the question.',
      'That is a fair question for a real model.',
    ],
  ],
]

const REMARKS = [
  'It brings to mind',
  'Picture',
  'Think of',
  'It sounds like',
  'It starts with',
  'It leads to',
] as const

function continueText(userText: string, random: SeededRandom): string[] {
  const subject = SUBJECTS.find(([pattern]) => pattern.test(userText))
  const sentences: string[] = subject ? [random.pick(subject[1])] : []
  const remarkCount = 2 + random.below(3)
  for (let index = 0; index < remarkCount; index += 1) {
    sentences.push(
      `${random.pick(REMARKS)} the ${random.pick(ADJECTIVES)} ${random.pick(WORDS)} and the ${random.pick(WORDS)}.`,
    )
  }
  return sentences
}

const ADJECTIVES = ['quiet', 'bright', 'patient', 'distant', 'simple', 'curious', 'steady', 'gentle'] as const

function nameTool(toolName: string | null): string {
  return toolName === null ? 'The tool' : `The tool ${toolName}`
}
