import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import type { ServerFeature } from '../../wires/native-demands.ts'
import { Untranslatable } from '../../wires/untranslatable.ts'
import type { WireDemands } from './screen-wire.ts'

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

interface WireReader<Body> {
  readonly translate: (body: Body) => ChatRequest
  readonly toReadable: (body: Body) => Body
  readonly featuresOf: (body: Body) => readonly ServerFeature[]
}

/** Reads requests of a wire once each, however often they are looked at. */
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
    // A tool of the vendor adds what it reads to the prompt, and its size is not known before.
    const whole = features.length === 0 ? chat : { ...chat, web_search_options: {} }
    const reading = { chat: whole, untranslatable, features }
    readings.set(body, reading)
    return reading
  }
}
