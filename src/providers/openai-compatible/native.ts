import { isNativeWire, type NativeRequest, type NativeWire } from '../native-wire.ts'
import type { InferenceAnswer, InferenceCall, InferenceOperation, Provider } from '../provider.ts'
import type { EventQueue } from './event-queue.ts'
import { prepareOther } from './prepare-request.ts'
import { readAnswer, readBody } from './read-answer.ts'
import type { OpenAiCompatibleUpstream } from './upstream.ts'
import type { WireClient } from './wire-client.ts'

/** Path of each wire, and the event that ends its streams. */
const WIRES: Readonly<Record<NativeWire, { readonly path: string; readonly lastEvent: RegExp }>> = {
  'anthropic-messages': { path: '/messages', lastEvent: /^\s*\{\s*"type"\s*:\s*"(message_stop|error)"/ },
  'openai-responses': {
    path: '/responses',
    lastEvent: /^\s*\{\s*"type"\s*:\s*"(response\.(completed|incomplete|failed)|error)"/,
  },
}

/** Forwards requests of other wires to an upstream that speaks them. Only the model is changed. */
export function createNativeWires(upstream: OpenAiCompatibleUpstream, client: WireClient): Partial<Provider> {
  const wires = (upstream.wires ?? []).filter(isNativeWire)
  if (wires.length === 0) return {}
  const native: Partial<Record<NativeWire, InferenceOperation<NativeRequest>>> = {}
  for (const wire of wires)
    native[wire] = (call) =>
      forwardNatively(
        { provider: upstream.id, client, wire },
        { path: WIRES[wire].path, body: prepareOther(upstream, call) },
        call,
      )
  return {
    native,
    ...(upstream.readsBillingLine ? { readsBillingLine: true } : {}),
    ...(upstream.countsMessageTokens
      ? {
          countMessageTokens: async (call) => {
            const response = await client.post('/messages/count_tokens', prepareOther(upstream, call), call)
            return { kind: 'complete', payload: readBody(upstream.id, response) }
          },
        }
      : {}),
  }
}

interface NativeContext {
  readonly provider: string
  readonly client: WireClient
  readonly wire: NativeWire
}

/** Sends a request of a wire, and reads its answer or its stream to the last event of the wire. */
export async function forwardNatively(
  { provider, client, wire }: NativeContext,
  { path, body }: { readonly path: string; readonly body: string },
  call: InferenceCall<NativeRequest>,
): Promise<InferenceAnswer> {
  const response = await client.post(path, body, call)
  const answer = readAnswer(provider, response, call.body.stream === true)
  if (response.kind !== 'events' || answer.kind !== 'stream') return answer
  const { events } = response
  return { ...answer, batches: untilLastEvent(events, WIRES[wire].lastEvent) }
}

/** Enough characters for the type, which all vendors of these wires write first. */
const TYPE_LENGTH_MAX = 64

/** These wires have no `[DONE]`, so this ends the stream at the last event even if the upstream keeps the connection open. */
async function* untilLastEvent(
  events: EventQueue,
  lastEvent: RegExp,
): AsyncGenerator<readonly Buffer[], void> {
  for await (const batch of events) {
    const last = batch.at(-1)
    if (last !== undefined && lastEvent.test(last.toString('latin1', 0, TYPE_LENGTH_MAX))) events.finish()
    yield batch
  }
}
