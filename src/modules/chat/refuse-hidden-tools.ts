import { findDeclaredTools } from '../../wires/declared-tools.ts'
import { refuseFeature } from '../../wires/native-demands.ts'
import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'

/**
 * Throws if a request of the chat wire declares a tool that a vendor would run, in any place. The schema allows only functions and
 * custom tools in `tools`, but every object of the wire is open, and upstreams read more than the schema knows.
 */
export function refuseHiddenTools(body: ChatRequest): void {
  for (const name in body) {
    const member: unknown = Reflect.get(body, name)
    if (typeof member !== 'object' || member === null || SEARCHED_APART.has(name)) continue
    refuseTools({ [name]: member }, '')
  }
  for (let index = 0; index < body.messages.length; index += 1) {
    const message: object = body.messages[index] ?? {}
    for (const name in message) {
      const member: unknown = Reflect.get(message, name)
      // Most messages are text.
      if (typeof member === 'object' && member !== null && name !== 'tool_calls')
        refuseTools({ [name]: member }, `messages.${index}`)
    }
  }
}

const SEARCHED_APART: ReadonlySet<string> = new Set(['messages', 'stop', 'logit_bias', 'stream_options'])

const CLIENT_TOOLS: ReadonlySet<unknown> = new Set(['function', 'custom'])

function refuseTools(part: object, param: string): void {
  for (const { type, param: place } of findDeclaredTools(part, param)) {
    if (CLIENT_TOOLS.has(type)) continue
    const what = `The tool ${JSON.stringify(type ?? null)}`
    throw refuseFeature({ member: null, param: `${place}.type`, what })
  }
}
