import type { LanguageModelV4Message, LanguageModelV4ReasoningPart } from '@ai-sdk/provider'

import type { ChatMessage } from '../../../wires/openai-chat/chat-request.ts'
import { isVendorSignature } from '../../../wires/sandbox-signature.ts'
import { isRecord, parseJson, readPath, readString } from '../exchange/read-json.ts'
import { UntranslatableRequest } from './untranslatable-request.ts'
import type { Vendor } from '../vendor.ts'

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

/** Translates an earlier answer into the order that the vendor requires: reasoning, text, tool calls. */
export function translateAssistantMessage(
  message: ChatMessage,
  messageIndex: number,
  vendor: Vendor,
): AssistantContent {
  return [
    ...(vendor.key === 'anthropic' ? readSignedReasoning(message) : readPlainReasoning(message)),
    ...translateText(message),
    ...translateToolCalls(message, messageIndex, vendor),
  ]
}

function translateText(message: ChatMessage): AssistantContent {
  const signature = readString(message, 'extra_content', 'google', 'thought_signature')
  const signed = signature === undefined ? {} : signWithThought(signature)
  const texts =
    typeof message.content === 'string'
      ? [message.content]
      : (message.content ?? []).flatMap((part) => {
          if (part.type === 'text') return [part.text]
          return part.type === 'refusal' ? [part.refusal] : []
        })
  if (texts.length === 0 && typeof message.refusal === 'string') texts.push(message.refusal)
  return texts
    .filter((text) => text !== '')
    .map((text, index, all) => ({ type: 'text', text, ...(index === all.length - 1 ? signed : {}) }))
}

function translateToolCalls(message: ChatMessage, messageIndex: number, vendor: Vendor): AssistantContent {
  const calls = (message.tool_calls ?? []).map((call, callIndex) => {
    if (call.type === 'custom') {
      const param = `messages.${messageIndex}.tool_calls.${callIndex}`
      throw new UntranslatableRequest(param, CUSTOM_TOOL_REFUSAL, 'unsupported_parameter')
    }
    const signature = readString(call, 'extra_content', 'google', 'thought_signature')
    return {
      type: 'tool-call' as const,
      toolCallId: vendor.normalizeCallId(call.id),
      toolName: call.function.name,
      input: parseArguments(call.function.arguments),
      ...(signature === undefined ? {} : signWithThought(signature)),
    }
  })
  const legacyName = readString(message, 'function_call', 'name')
  if (legacyName === undefined) return calls
  const input = parseArguments(readString(message, 'function_call', 'arguments') ?? '')
  return [
    ...calls,
    { type: 'tool-call', toolCallId: vendor.normalizeCallId(legacyName), toolName: legacyName, input },
  ]
}

/**
 * Neither vendor has tools with plain text input. A function with one string argument would make the model escape its text as
 * JSON, and could not enforce a grammar: code written that way differs and is sometimes broken.
 */
export const CUSTOM_TOOL_REFUSAL =
  "This model's provider has no custom tools. Describe the tool as a function, or choose a model that has them."

// Both vendors accept only an object, and a model may have been cut off in the middle of its arguments.
function parseArguments(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  const parsed = parseJson(text)
  return isRecord(parsed) ? parsed : { arguments: parsed ?? text }
}

/** Anthropic verifies the signature of each thinking block and refuses blocks without one, so those are omitted. */
export function readSignedReasoning(message: ChatMessage): LanguageModelV4ReasoningPart[] {
  const details = readPath(message, 'reasoning_details')
  if (!Array.isArray(details)) return []
  return details.flatMap((detail: unknown): LanguageModelV4ReasoningPart[] => {
    const signature = readString(detail, 'signature')
    const redactedData = readString(detail, 'data')
    if (isVendorSignature(signature)) {
      const text = readString(detail, 'text') ?? ''
      return [{ type: 'reasoning', text, providerOptions: { anthropic: { signature } } }]
    }
    if (redactedData === undefined) return []
    return [{ type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData } } }]
  })
}

function readPlainReasoning(message: ChatMessage): LanguageModelV4ReasoningPart[] {
  const text = message.reasoning_content ?? ''
  return text === '' ? [] : [{ type: 'reasoning', text }]
}

function signWithThought(thoughtSignature: string) {
  return { providerOptions: { google: { thoughtSignature } } }
}
