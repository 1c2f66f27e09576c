import type { ChatRequest } from '../../providers/chat-wire.ts'
import { Untranslatable } from '../../wires/untranslatable.ts'

/** A request of another wire as the gateway reads it. */
export interface ChatReading {
  /** What cannot be translated stands there as text: for estimates, never for an upstream. */
  readonly chat: ChatRequest
  /** Why it cannot be translated as a whole; null where it can. */
  readonly untranslatable: Untranslatable | null
}

export function readAsChat<Body>(
  body: Body,
  translate: (body: Body) => ChatRequest,
  toReadable: (body: Body) => Body,
): ChatReading {
  try {
    return { chat: translate(body), untranslatable: null }
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error
    return { chat: translate(toReadable(body)), untranslatable: error }
  }
}
