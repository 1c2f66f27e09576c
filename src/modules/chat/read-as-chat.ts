import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import type { ServerFeature } from '../../wires/native-demands.ts'
import { Untranslatable } from '../../wires/untranslatable.ts'
import type { WireDemands } from './filter-by-wire.ts'

/** A request of another wire, translated to the chat form. */
export interface ChatReading {
  /** Parts that cannot be translated are included as text. Used for estimates, never sent to an upstream. */
  readonly chat: ChatRequest
  /** Why the request cannot be translated completely, or null if it can. */
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

interface WireReader<Body> {
  readonly translate: (body: Body) => ChatRequest
  readonly toReadable: (body: Body) => Body
  readonly featuresOf: (body: Body) => readonly ServerFeature[]
}

/** Translates each request of a wire once and remembers the result. */
export function createReading<Body extends object>({
  translate,
  toReadable,
  featuresOf,
}: WireReader<Body>): (body: Body) => ChatReading & WireDemands {
  const readings = new WeakMap<Body, ChatReading & WireDemands>()
  return (body) => {
    const known = readings.get(body)
    if (known !== undefined) return known
    const { chat, untranslatable } = readAsChat(body, translate, toReadable)
    const features = featuresOf(body)
    // A server tool of the vendor adds what it reads to the prompt, and its size is not known in advance.
    const whole = features.length === 0 ? chat : { ...chat, web_search_options: {} }
    const reading = { chat: whole, untranslatable, features }
    readings.set(body, reading)
    return reading
  }
}
