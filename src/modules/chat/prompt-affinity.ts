import { isRecord } from '../../kernel/is-record.ts'
import { hashText } from '../../kernel/rendezvous.ts'
import type { InferenceRequest } from '../inference/inference.ts'

/** Of what a client sends as a key, of each message, and so of all that is hashed for a request. */
const CHARACTERS_MAX = 1024
/** Up to the first of a user; a conversation begins with few others. */
const MESSAGES_MAX = 4
const PARTS_MAX = 4
/** About 256 tokens, the shortest prompt that any vendor caches: shorter ones are spread as if they had nothing in common. */
const CACHEABLE_BYTES_MIN = 1024

/**
 * What requests have in common that share the beginning of a prompt, so that they are sent to the upstream that has it in
 * its cache. Found when somebody asks, and once: with one upstream that has one key nobody does.
 */
export function affinityOf(request: InferenceRequest<object>): () => number | null {
  let known: number | null | undefined
  return () => (known === undefined ? (known = findAffinity(request)) : known)
}

function findAffinity({ body, bytes, caller, sessionId }: InferenceRequest<object>): number | null {
  const hint = findHint(body, sessionId?.()) ?? (bytes < CACHEABLE_BYTES_MIN ? null : findOpening(body))
  // Within the account, so that nobody finds out where another's requests go.
  return hint === null ? null : hashText(hint, hashText(caller.accountId))
}

/** The first of what a client says by itself. */
function findHint(body: object, sessionId: string | undefined): string | null {
  const { prompt_cache_key: cacheKey, user, metadata } = readMembers(body)
  const hints = [cacheKey, sessionId, user, isRecord(metadata) ? metadata['user_id'] : null]
  for (const [kind, hint] of hints.entries())
    if (typeof hint === 'string' && hint !== '') return `${kind} ${hint.slice(0, CHARACTERS_MAX)}`
  return null
}

/** How the prompt begins: what holds for all of it, then its messages up to the first of a user. */
function findOpening(body: object): string | null {
  const { system, instructions, messages, input, prompt } = readMembers(body)
  let opening = beginningOf(system ?? instructions)
  const list = messages ?? input ?? prompt
  if (!Array.isArray(list)) return nothingAsNull(opening + beginningOf(list))
  for (const message of list.slice(0, MESSAGES_MAX)) {
    opening += isRecord(message) ? beginningOf(message['content'] ?? message['text']) : beginningOf(message)
    if (isRecord(message) && message['role'] === 'user') break
  }
  return nothingAsNull(opening)
}

/** With its length, which tells texts apart that begin alike. */
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
