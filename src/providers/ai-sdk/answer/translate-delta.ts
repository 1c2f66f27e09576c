import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'

import { readReasoningDetail, readThoughtMark } from '../request/signed-content.ts'

type Part<Type extends LanguageModelV4StreamPart['type']> = Extract<LanguageModelV4StreamPart, { type: Type }>

/** Translates the parts of one choice's stream into OpenAI's deltas. Undefined for parts that have no equivalent. */
export function createDeltaTranslator(): (part: LanguageModelV4StreamPart) => object | undefined {
  const toolCalls = createToolCallDeltas()
  const thoughts = createThoughtDeltas()
  return (part) => {
    if (part.type === 'text-delta') return translateText(part)
    if (part.type === 'reasoning-start') return thoughts.start(part)
    if (part.type === 'reasoning-delta') return thoughts.continue(part)
    if (part.type === 'reasoning-end') return thoughts.end(part)
    if (part.type === 'tool-input-start') return toolCalls.start(part)
    if (part.type === 'tool-input-delta') return toolCalls.continue(part.id, part.delta)
    if (part.type === 'tool-call') return toolCalls.complete(part)
    return undefined
  }
}

function translateText({ delta, providerMetadata }: Part<'text-delta'>): object | undefined {
  const mark = readThoughtMark(providerMetadata)
  if (mark !== undefined) return { content: delta, extra_content: mark }
  return delta === '' ? undefined : { content: delta }
}

function createToolCallDeltas() {
  const calls = new Map<string, { index: number; hasArguments: boolean }>()

  function open(
    id: string,
    name: string,
    input: string,
    metadata: SharedV4ProviderMetadata | undefined,
  ): object {
    const index = calls.size
    calls.set(id, { index, hasArguments: input !== '' })
    const mark = readThoughtMark(metadata)
    const call = { index, id, type: 'function', function: { name, arguments: input } }
    return { tool_calls: [mark === undefined ? call : { ...call, extra_content: mark }] }
  }

  function proceed(id: string, text: string): object | undefined {
    const call = calls.get(id)
    if (call === undefined || text === '') return undefined
    call.hasArguments = true
    return { tool_calls: [{ index: call.index, function: { arguments: text } }] }
  }

  return {
    start({
      id,
      toolName,
      providerExecuted,
      providerMetadata,
    }: Part<'tool-input-start'>): object | undefined {
      return providerExecuted === true ? undefined : open(id, toolName, '', providerMetadata)
    },
    continue: proceed,
    complete({ toolCallId, toolName, input, providerExecuted, providerMetadata }: Part<'tool-call'>) {
      if (providerExecuted === true) return undefined
      const call = calls.get(toolCallId)
      if (call === undefined) return open(toolCallId, toolName, input, providerMetadata)
      // A call without arguments streams none, but clients parse the collected arguments as JSON.
      return call.hasArguments ? undefined : proceed(toolCallId, input)
    },
  }
}

function createThoughtDeltas() {
  const thoughts = new Map<string, { text: string; metadata: SharedV4ProviderMetadata | undefined }>()

  function note(id: string, text: string, metadata: SharedV4ProviderMetadata | undefined): void {
    const known = thoughts.get(id)
    thoughts.set(id, { text: (known?.text ?? '') + text, metadata: metadata ?? known?.metadata })
  }

  return {
    start({ id, providerMetadata }: Part<'reasoning-start'>): undefined {
      note(id, '', providerMetadata)
    },
    continue({ id, delta, providerMetadata }: Part<'reasoning-delta'>): object | undefined {
      note(id, delta, providerMetadata)
      return delta === '' ? undefined : { reasoning_content: delta }
    },
    // The signature covers the complete thinking block, so both are sent when it is complete.
    end({ id }: Part<'reasoning-end'>): object | undefined {
      const thought = thoughts.get(id)
      thoughts.delete(id)
      const details = thought === undefined ? [] : readReasoningDetail(thought.text, thought.metadata)
      return details.length === 0 ? undefined : { reasoning_details: details }
    },
  }
}
