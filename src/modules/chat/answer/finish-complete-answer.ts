import { editJsonObject } from '../../../kernel/json/edit-json-object.ts'
import { createToken } from '../../../kernel/identifiers.ts'
import { ID_PREFIXES, settleUsage, type AnswerContext } from './answer-context.ts'
import { readAnswerPayload } from './answer-payload.ts'
import { completeChoice } from './complete-choice.ts'
import { DeliveredText } from './delivered-text.ts'
import { patchCommonAnswer } from './patch-common-answer.ts'
import { noteDelivered } from './note-delivered.ts'
import type { ParsedAnswer } from './parse-answer.ts'
import { formatUsage, readUsage } from '../../../wires/token-usage.ts'
import { invalidAnswer } from '../../../providers/failures/upstream-error.ts'

const OBJECTS = { chat: 'chat.completion', completion: 'text_completion' } as const

/** Checks a complete answer of an upstream, meters it and puts our model id, usage and cost into its text. */
export function finishCompleteAnswer(
  { text, value }: ParsedAnswer,
  context: AnswerContext,
  kind: 'chat' | 'completion',
): string {
  const { members, choices } = readAnswerPayload(context.provider, value)
  if (choices.length === 0) throw invalidAnswer(context.provider, 'it answered without a choice')

  const delivered = new DeliveredText()
  let isCompleted = false
  for (const [index, choice] of choices.entries()) {
    isCompleted = completeChoice(choice, index, kind === 'chat' ? 'message' : 'text') || isCompleted
    noteDelivered(choice, delivered)
  }
  const reason = choices[0]?.['finish_reason']
  context.record.finishReason = typeof reason === 'string' ? reason : null
  const usage = settleUsage(context, readUsage(members['usage']), delivered)
  const cost = context.record.costNanoUsd ?? 0n

  const prefix = ID_PREFIXES[kind]
  const { id, object, created } = members
  const hasFingerprint = members['system_fingerprint'] !== undefined
  const isOurs = typeof id === 'string' && id.startsWith(prefix)
  const { requestedModel } = context
  const hasHead = isOurs && typeof object === 'string' && typeof created === 'number'
  if (hasHead && hasFingerprint && !isCompleted) {
    const edited = patchCommonAnswer(text, { members, requestedModel, usage, costNanoUsd: cost })
    if (edited !== null) return edited
  }
  const edits = new Map([['usage', JSON.stringify(formatUsage(usage, cost, members['usage']))]])
  if (members['model'] !== requestedModel) edits.set('model', JSON.stringify(requestedModel))
  if (!isOurs) edits.set('id', JSON.stringify(createToken(prefix)))
  if (typeof object !== 'string') edits.set('object', JSON.stringify(OBJECTS[kind]))
  if (typeof created !== 'number') edits.set('created', String(Math.floor(context.startedMs / 1000)))
  if (!hasFingerprint) edits.set('system_fingerprint', 'null')
  if (isCompleted) edits.set('choices', JSON.stringify(choices))
  return editJsonObject(text, edits) ?? JSON.stringify({ ...members, ...parseEdits(edits) })
}

function parseEdits(edits: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries([...edits].map(([name, value]) => [name, JSON.parse(value)]))
}
