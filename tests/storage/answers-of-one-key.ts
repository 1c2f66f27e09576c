const CHAT = {
  model: 'gpt-5.4-mini',
  messages: [{ role: 'user', content: 'Compare me' }],
  max_tokens: 12,
} as const

/** What somebody with one key asks for: method, path, body. */
export const ROUTES_WITH_ONE_KEY: readonly (readonly [string, string, unknown?])[] = [
  ['GET', '/v1/models'],
  ['GET', '/v1/models/gpt-5.4-mini'],
  ['POST', '/v1/chat/completions', CHAT],
  ['POST', '/v1/chat/completions', { ...CHAT, stream: true }],
  ['POST', '/v1/completions', { model: 'gpt-5.4-mini', prompt: 'Compare me', max_tokens: 12 }],
  ['POST', '/v1/messages', CHAT],
  ['POST', '/v1/messages', { ...CHAT, stream: true }],
  ['POST', '/v1/messages/count_tokens', { model: CHAT.model, messages: CHAT.messages }],
  ['POST', '/v1/responses', { model: 'gpt-5.4-mini', input: 'Compare me', max_output_tokens: 16 }],
  ['POST', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'Compare me' }],
  ['POST', '/v1/rerank', { model: 'rerank-v3.5', query: 'sea', documents: ['boat', 'car'] }],
  ['POST', '/v1/moderations', { input: 'Compare me' }],
  ['POST', '/v1/chat/completions', { model: 'no-such-model', messages: CHAT.messages }],
  ['POST', '/v1/chat/completions', { model: 'gpt-5.4-mini' }],
  ['GET', '/v1/tenants/me'],
  ['GET', '/v1/tenants/me/api-keys'],
  ['POST', '/v1/tenants/me/api-keys', { name: 'second' }],
  ['GET', '/v1/usage/budget'],
  ['GET', '/v1/usage/summary?window=24h'],
  ['GET', '/v1/usage/spending?window=24h&by=model'],
  ['GET', '/v1/usage/timeseries?window=24h&by=model&granularity=day'],
  ['GET', '/v1/usage/records'],
  ['GET', '/v1/requests'],
  ['GET', '/v1/tasks'],
  ['GET', '/v1/responses/resp_unknown'],
  ['GET', '/v1/no-such-route'],
  ['GET', '/v1/compare/runs'],
  ['GET', '/v1/deployments'],
  ['GET', '/v1/audio/voices'],
  ['GET', '/v1/limits'],
]

/** The later answer without members that the earlier one does not have: a release may add some. */
export function withoutNewMembers(earlier: string, later: string): string {
  if (!earlier.startsWith('{') || !later.startsWith('{')) return later
  return JSON.stringify(membersOf(JSON.parse(earlier), JSON.parse(later)))
}

function membersOf(earlier: unknown, later: unknown): unknown {
  if (Array.isArray(earlier) && Array.isArray(later))
    return later.map((item, index) => membersOf(earlier[index], item))
  if (!isObject(earlier) || !isObject(later)) return later
  return Object.fromEntries(
    Object.entries(later)
      .filter(([name]) => name in earlier)
      .map(([name, value]) => [name, membersOf(earlier[name], value)]),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What is sold changes from release to release; the form in which it is listed does not. */
export function onlyModelOfBoth(text: string): string {
  const list = JSON.parse(text)
  const listed = list.data.filter(({ id }: { readonly id: string }) => id === CHAT.model)
  return JSON.stringify({ ...list, data: listed })
}

/** What differs between any two answers of one release (ids, times, and what took how long). */
export function withoutIdsAndTimes(text: string): string {
  return (
    text
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>')
      .replaceAll(
        /\b(req|resp|msg|chatcmpl|cmpl|rs|modr|proj|user|org|rerank|emb)(_|-)[0-9a-zA-Z]{16,}/g,
        '$1<id>',
      )
      .replaceAll(/[0-9a-f]{24,}/g, '<hex>')
      .replaceAll(/\bpk-dev-\w+(\.\.\.\w+|…\w+)?/g, '<key>')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)/g, '<time>')
      .replaceAll(/"(created|created_at|last_used_at|completed_at)":1\d{9}/g, '"$1":<seconds>')
      .replaceAll(/"(\w*(latency|ttft|duration|first_token)\w*)":(\d+(\.\d+)?|\{[^}]*\})/g, '"$1":<ms>')
      // A number that changes with every change, and says nothing else.
      .replaceAll(/"version":\d+/g, '"version":<number>')
      .replaceAll(/127\.0\.0\.1:\d+/g, '<host>')
  )
}
