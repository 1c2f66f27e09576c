import { isRecord } from '../../kernel/is-record.ts'
import { hashText } from '../../kernel/rendezvous.ts'
import { withoutBillingLine } from '../../wires/anthropic-messages/billing-line.ts'
import type { InferenceRequest } from '../inference/inference.ts'

/** Characters of a client's key and of each message that are hashed. */
const CHARACTERS_MAX = 1024
/** Messages that are hashed, up to the first user message. Few messages precede that one. */
const MESSAGES_MAX = 4
const PARTS_MAX = 4
/** About 256 tokens, the shortest prompt that any vendor caches. Shorter prompts are distributed without affinity. */
const CACHEABLE_BYTES_MIN = 1024

/**
 * Returns a hash that requests with the same prompt prefix share, so that they reach the upstream that has the prefix in its
 * cache. Computed on the first call only: a model with one upstream and one key never needs it.
 */
export function affinityOf(request: InferenceRequest<object>): () => number | null {
  let known: number | null | undefined
  return () => (known === undefined ? (known = findAffinity(request)) : known)
}

function findAffinity({ body, bytes, caller, sessionId }: InferenceRequest<object>): number | null {
  const hint = findHint(body, sessionId?.()) ?? (bytes < CACHEABLE_BYTES_MIN ? null : findOpening(body))
  // Hashed per account, so that no account can find out where the requests of another are sent.
  return hint === null ? null : hashText(hint, hashText(caller.accountId))
}

/** Returns the first identifier that the client sends. */
function findHint(body: object, sessionId: string | undefined): string | null {
  const { prompt_cache_key: cacheKey, user, metadata } = readMembers(body)
  const hints = [cacheKey, sessionId, user, isRecord(metadata) ? metadata['user_id'] : null]
  for (const [kind, hint] of hints.entries())
    if (typeof hint === 'string' && hint !== '') return `${kind} ${hint.slice(0, CHARACTERS_MAX)}`
  return null
}

/** Returns how the prompt begins: system prompt or instructions, then the messages up to the first of a user. */
function findOpening(body: object): string | null {
  const { system, instructions, messages, input, prompt } = readMembers(body)
  let opening = beginningOf(withoutBillingLine(system) ?? instructions)
  const list = messages ?? input ?? prompt
  if (!Array.isArray(list)) return nothingAsNull(opening + beginningOf(list))
  for (const message of list.slice(0, MESSAGES_MAX)) {
    opening += isRecord(message) ? beginningOf(message['content'] ?? message['text']) : beginningOf(message)
    if (isRecord(message) && message['role'] === 'user') break
  }
  return nothingAsNull(opening)
}

/** Includes the length, which distinguishes texts that begin alike. */
function beginningOf(content: unknown): string {
  if (typeof content === 'string') return `${content.length} ${content.slice(0, CHARACTERS_MAX)}\n`
  if (!Array.isArray(content)) return ''
  return content
    .slice(0, PARTS_MAX)
    .map((part) => beginningOf(isRecord(part) ? part['text'] : part))
    .join('')
}

function nothingAsNull(text: string): string | null {
  return text === '' ? null : text
}

function readMembers(body: object): Readonly<Record<string, unknown>> {
  return isRecord(body) ? body : {}
}
