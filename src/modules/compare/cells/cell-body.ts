import type { ChatMessage, ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { Lane } from '../runs/run.ts'

/** The chat request of a cell: the lane's members around the prompt's messages. */
export function cellBody(
  { model, params }: Pick<Lane, 'model' | 'params'>,
  messages: readonly ChatMessage[],
  repeat: number,
): ChatRequest {
  const { system, ...members } = params
  return {
    ...members,
    // Each repeat has its own seed. The same run gets the same seeds again.
    ...(typeof params['seed'] === 'number' && { seed: cellSeed(params['seed'], repeat) }),
    model,
    messages: typeof system === 'string' ? withSystem(system, messages) : [...messages],
  }
}

export function cellSeed(laneSeed: number, repeat: number): number {
  return laneSeed + repeat
}

/** The lane's system message replaces that of the prompt, because lanes may differ in it. */
function withSystem(system: string, messages: readonly ChatMessage[]): ChatMessage[] {
  const rest = messages.filter(({ role }) => role !== 'system' && role !== 'developer')
  return [{ role: 'system', content: system }, ...rest]
}
