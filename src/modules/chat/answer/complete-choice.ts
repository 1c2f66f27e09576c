import { isRecord } from '../../../kernel/is-record.ts'

export type ChoiceForm = 'message' | 'delta' | 'text'

/**
 * Adds to a choice what clients of this wire rely on and some upstreams omit or name differently. Returns whether anything
 * changed, so that unchanged bytes can be forwarded.
 */
export function completeChoice(choice: Record<string, unknown>, index: number, form: ChoiceForm): boolean {
  let isChanged = false
  if (typeof choice['index'] !== 'number') {
    choice['index'] = index
    isChanged = true
  }
  if (choice['finish_reason'] === undefined) {
    choice['finish_reason'] = form === 'message' ? 'stop' : null
    isChanged = true
  }
  if (choice['logprobs'] === undefined) {
    choice['logprobs'] = null
    isChanged = true
  }
  if (form === 'text') return completeText(choice) || isChanged
  const spoken = choice[form]
  if (!isRecord(spoken)) {
    choice[form] = form === 'message' ? { role: 'assistant', content: null, refusal: null } : {}
    return true
  }
  if (form === 'message') isChanged = completeMessage(spoken) || isChanged
  return adoptReasoningName(spoken) || isChanged
}

function completeText(choice: Record<string, unknown>): boolean {
  if (typeof choice['text'] === 'string') return false
  choice['text'] = ''
  return true
}

function completeMessage(message: Record<string, unknown>): boolean {
  const { role, content, refusal } = message
  if (typeof role === 'string' && content !== undefined && refusal !== undefined) return false
  if (typeof role !== 'string') message['role'] = 'assistant'
  message['content'] ??= null
  message['refusal'] ??= null
  return true
}

function adoptReasoningName(spoken: Record<string, unknown>): boolean {
  if (typeof spoken['reasoning'] !== 'string') return false
  if (spoken['reasoning_content'] === undefined) spoken['reasoning_content'] = spoken['reasoning']
  delete spoken['reasoning']
  return true
}
