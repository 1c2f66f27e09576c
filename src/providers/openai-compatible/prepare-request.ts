import { editJsonObject } from '../../kernel/json/edit-json-object.ts'
import type { ChatMessage, ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import type { InferenceCall } from '../provider.ts'
import { listHeldMembers } from './server-members.ts'
import type { OpenAiCompatibleUpstream } from './upstream.ts'

/** Members of forwarded requests that this module reads or changes. */
export type PreparableRequest = Pick<
  Partial<ChatRequest>,
  | 'messages'
  | 'stream'
  | 'stream_options'
  | 'max_tokens'
  | 'max_completion_tokens'
  | 'think'
  | 'reasoning_effort'
  | 'seed'
> & { readonly model?: string | null }

/** Returns the body for the upstream: the client's text with as few changed members as possible. */
export function prepareRequest(
  upstream: OpenAiCompatibleUpstream,
  call: InferenceCall<PreparableRequest>,
): string {
  const edits = collectEdits(upstream, call)
  return editJsonObject(call.text, edits) ?? serialise(call, edits)
}

/** Prepares requests other than chat. Their members have no meaning here and are forwarded with any value. */
export function prepareOther(
  upstream: OpenAiCompatibleUpstream,
  call: InferenceCall<{ readonly model?: string | null }>,
): string {
  const { refusedMembers = [] } = upstream
  const edits = new Map<string, string | null>()
  for (const member of listHeldMembers(upstream, call.body)) edits.set(member, null)
  if (call.body.model !== call.upstreamModel) edits.set('model', JSON.stringify(call.upstreamModel))
  for (const member of refusedMembers) edits.set(member, null)
  return editJsonObject(call.text, edits) ?? serialise(call, edits)
}

function collectEdits(
  upstream: OpenAiCompatibleUpstream,
  call: InferenceCall<PreparableRequest>,
): Map<string, string | null> {
  const { body } = call
  const edits = new Map<string, string | null>()
  for (const member of listHeldMembers(upstream, body)) edits.set(member, null)
  if (body.model !== call.upstreamModel) edits.set('model', JSON.stringify(call.upstreamModel))
  // Always request usage, because nothing else reports what was used.
  if (body.stream)
    edits.set('stream_options', JSON.stringify({ ...body.stream_options, include_usage: true }))
  else if (body.stream_options !== undefined) edits.set('stream_options', null)

  const outputLimit = body.max_completion_tokens ?? body.max_tokens
  if (outputLimit !== null && outputLimit !== undefined) {
    const member = upstream.outputLimitMember ?? 'max_tokens'
    const other = member === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
    if (body[other] !== undefined) {
      edits.set(other, null)
      edits.set(member, String(outputLimit))
    }
  }
  if (body.think !== undefined) {
    edits.set('think', null)
    if (body.think === true && call.canReason) {
      for (const [name, value] of Object.entries(upstream.thinkMembers?.(body) ?? {})) {
        edits.set(name, JSON.stringify(value))
      }
    }
  }
  if (upstream.seedMember && typeof body.seed === 'number') {
    edits.set('seed', null)
    edits.set(upstream.seedMember, String(body.seed))
  }
  const { messages } = body
  // The `messages` of a text completion are not validated.
  if (upstream.lacksDeveloperRole && Array.isArray(messages) && messages.some(isOfDeveloper)) {
    edits.set('messages', JSON.stringify(messages.map(asSystemMessage)))
  }
  for (const member of upstream.refusedMembers ?? []) edits.set(member, null)
  return edits
}

function isOfDeveloper(message: ChatMessage | null): boolean {
  return message?.role === 'developer'
}

function asSystemMessage(message: ChatMessage): ChatMessage {
  return isOfDeveloper(message) ? { ...message, role: 'system' } : message
}

function serialise(call: InferenceCall<object>, edits: ReadonlyMap<string, string | null>): string {
  const members = new Map<string, unknown>(Object.entries(call.body))
  for (const [name, value] of edits) {
    if (value === null) members.delete(name)
    else members.set(name, JSON.parse(value))
  }
  return JSON.stringify(Object.fromEntries(members))
}
