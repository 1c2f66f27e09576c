import type { ChatMessage, ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import { choosePairs } from './choose-pairs.ts'
import { CHARACTERS_MAX, duelQuestion, scoreQuestion, type JudgeSettings } from './judge-question.ts'
import { criterionOf } from './unjudged.ts'

/** Questions of one length that a judge will be asked. */
export interface PlannedQuestions {
  readonly count: number
  /** Asked one after the other; those of one round at the same time. */
  readonly rounds: number
  readonly promptCharacters: number
  readonly answerTokens: number
}

interface JudgedPrompts {
  readonly prompts: readonly { readonly messages: readonly ChatMessage[]; readonly expected: unknown }[]
  /** How long the answers of each lane are thought to be. */
  readonly outputCharacters: readonly number[]
}

/** A sentence and a word, as JSON. */
const ANSWER_TOKENS_GUESS = 60
const ORDERS = 2

/** What a judge will be asked about one repeat of each prompt, as far as that can be known before there are answers. */
export function planQuestions(
  judge: JudgeSettings,
  { prompts, outputCharacters }: JudgedPrompts,
): PlannedQuestions[] {
  const lengths = outputCharacters.map((length) => Math.min(length, CHARACTERS_MAX))
  const lanes = lengths.map((_, position) => String(position))
  // Who meets whom is drawn for every prompt, but each lane meets as many others in all of them.
  const pairs = choosePairs(lanes, { seed: 0, promptIndex: 0, repeat: 0 })
  const lengthOfAll = lengths.reduce((sum, length) => sum + length, 0)
  return prompts.flatMap(({ messages, expected }) => {
    const duel = lengthOf(duelQuestion(judge, messages, { first: '', second: '' }))
    const duels = {
      count: ORDERS * pairs.length,
      rounds: pairs.length,
      promptCharacters: duel + (2 * lengthOfAll) / lanes.length,
      answerTokens: ANSWER_TOKENS_GUESS,
    }
    const criterion = criterionOf(expected)
    if (criterion === null) return [duels]
    const score = lengthOf(scoreQuestion(judge, messages, { output: '', criterion }))
    const scores = {
      count: lanes.length,
      rounds: lanes.length,
      promptCharacters: score + lengthOfAll / lanes.length,
      answerTokens: ANSWER_TOKENS_GUESS,
    }
    return [duels, scores]
  })
}

/** With the form of the answer, which models are told too. */
function lengthOf({ messages, response_format: format }: ChatRequest): number {
  return JSON.stringify([messages, format]).length
}
