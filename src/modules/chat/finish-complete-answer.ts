import { createToken } from '../../kernel/identifiers.ts'
import { ID_PREFIXES, settleUsage, type AnswerContext } from './answer-context.ts'
import { garbage, readAnswerPayload, textOfChoice } from './answer-payload.ts'
import { completeChoice } from './complete-choice.ts'
import { DeliveredText } from './delivered-text.ts'
import { formatUsage, readUsage } from './token-usage.ts'

const OBJECTS = { chat: 'chat.completion', completion: 'text_completion' } as const

/** Checks an upstream's whole answer, meters it and puts our model id, usage and cost into it. */
export function finishCompleteAnswer(payload: Buffer, context: AnswerContext): string {
  const { members, choices } = readAnswerPayload(context.provider, payload)
  if (choices.length === 0) throw garbage(context.provider, 'it answered without a choice')
  const delivered = new DeliveredText()
  const { operation } = context.record
  for (const [index, choice] of choices.entries()) {
    completeChoice(choice, index, operation === 'chat' ? 'message' : 'text')
    delivered.add(textOfChoice(choice))
  }
  const usage = settleUsage(context, readUsage(members['usage']), delivered)

  const prefix = ID_PREFIXES[operation]
  const { id, object, created } = members
  if (typeof id !== 'string' || !id.startsWith(prefix)) members['id'] = createToken(prefix)
  if (typeof object !== 'string') members['object'] = OBJECTS[operation]
  if (typeof created !== 'number') members['created'] = Math.floor(context.startedMs / 1000)
  members['model'] = context.requestedModel
  members['usage'] = formatUsage(usage, context.record.costNanoUsd ?? 0n, members['usage'])
  return JSON.stringify(members)
}
