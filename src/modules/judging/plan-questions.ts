import type { ChatMessage, ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import { choosePairs } from './choose-pairs.ts'
import { CHARACTERS_MAX, duelQuestion, scoreQuestion, type JudgeSettings } from './judge-question.ts'
import { criterionOf } from './unjudged.ts'

/** A number of equally long questions to a judge. */
export interface PlannedQuestions {
  readonly count: number
  /** The number of sequential rounds. The questions of one round are asked concurrently. */
  readonly rounds: number
  readonly promptCharacters: number
  readonly answerTokens: number
}

interface JudgedPrompts {
  readonly prompts: readonly { readonly messages: readonly ChatMessage[]; readonly expected: unknown }[]
  /** The estimated length of the answers of each lane. */
  readonly outputCharacters: readonly number[]
}

/** One sentence and one word as JSON. */
const ANSWER_TOKENS_GUESS = 60
const ORDERS = 2

/** Estimates the questions to a judge about one repeat of each prompt, before the answers exist. */
export function planQuestions(
  judge: JudgeSettings,
  { prompts, outputCharacters }: JudgedPrompts,
): PlannedQuestions[] {
  const lengths = outputCharacters.map((length) => Math.min(length, CHARACTERS_MAX))
  const lanes = lengths.map((_, position) => String(position))
  // The pairs are drawn anew for each prompt, but their number is always the same.
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

/** Includes the response format, because models receive it too. */
function lengthOf({ messages, response_format: format }: ChatRequest): number {
  return JSON.stringify([messages, format]).length
}
