import { editJsonObject } from '../../kernel/json/edit-json-object.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { stringifyJson } from '../../kernel/json/stringify-json.ts'
import type { NativeRequest } from '../native-wire.ts'
import type { InferenceCall, InferenceOperation, Provider } from '../provider.ts'
import { isVendorSignature } from '../../wires/sandbox-signature.ts'
import { withoutBillingLine } from '../../wires/anthropic-messages/billing-line.ts'
import type { CountTokensRequest } from '../../wires/anthropic-messages/messages-request.ts'

const VERSION_HEADER = 'anthropic-version'
/** The version of clients that send no version header. */
const VERSION_DEFAULT = '2023-06-01'

/** Serves Anthropic's wire with a provider that speaks it. Forwards everything except what the vendor would refuse or not read. */
export function messagesNatively<Request extends CountTokensRequest & NativeRequest>(
  send: InferenceOperation<NativeRequest>,
  { readsBillingLine }: Pick<Provider, 'readsBillingLine'>,
): InferenceOperation<Request> {
  return (call) => {
    const { headers = [] } = call
    const versioned = headers.includes(VERSION_HEADER)
      ? headers
      : [VERSION_HEADER, VERSION_DEFAULT, ...headers]
    const readable = readsBillingLine === true ? call : withoutLine(call)
    return send({ ...withoutUnsignedThoughts(readable), headers: versioned })
  }
}

function withoutLine<Request extends CountTokensRequest>(
  call: InferenceCall<Request>,
): InferenceCall<Request> {
  const { system } = call.body
  const kept = withoutBillingLine(system)
  if (kept === system) return call
  const isEmpty = kept === undefined || kept === null || kept.length === 0
  const { system: _system, ...others } = call.body
  const body = (isEmpty ? others : { ...others, system: kept }) as Request
  const text = editJsonObject(call.text, new Map([['system', isEmpty ? null : stringifyJson(kept)]]))
  return { ...call, body, text: text ?? stringifyJson(body) }
}

/** Removes thinking blocks of other vendors' models. They have no signature, and Anthropic refuses requests that contain them. */
function withoutUnsignedThoughts<Request extends CountTokensRequest>(
  call: InferenceCall<Request>,
): InferenceCall<Request> {
  const { messages } = call.body
  if (!messages.some(({ content }) => Array.isArray(content) && content.some(isUnsigned))) return call
  const signed = messages
    .map((message) =>
      Array.isArray(message.content)
        ? { ...message, content: message.content.filter((block) => !isUnsigned(block)) }
        : message,
    )
    .filter(({ content }) => content.length > 0)
  const body = { ...call.body, messages: signed }
  const text = editJsonObject(call.text, new Map([['messages', stringifyJson(signed)]]))
  return { ...call, body, text: text ?? stringifyJson(body) }
}

function isUnsigned(block: object): boolean {
  if (!isRecord(block) || block['type'] !== 'thinking') return false
  return !isVendorSignature(block['signature'])
}
