/** They concern one connection. Node writes its own. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
/** Identity of the client, for which the key of the profile stands, and what browsers say about pages. */
const CLIENT_ONLY = ['host', 'authorization', 'x-api-key', 'api-key', 'cookie', 'origin', 'referer', 'expect']
const DROPPED_OF_REQUESTS = new Set([...HOP_BY_HOP, ...CLIENT_ONLY])
const DROPPED_OF_ANSWERS = new Set([...HOP_BY_HOP, 'set-cookie'])

/** Headers in the order and with the names that were sent, as Node writes them. */
type RawHeaders = readonly string[]

export function headersForGateway(raw: RawHeaders, apiKey: string): string[] {
  const kept = keepHeaders(raw, (name) => !DROPPED_OF_REQUESTS.has(name) && !name.startsWith('sec-fetch-'))
  return [...kept, 'Authorization', `Bearer ${apiKey}`]
}

export function headersForClient(raw: RawHeaders): string[] {
  return keepHeaders(raw, (name) => !DROPPED_OF_ANSWERS.has(name))
}

function keepHeaders(raw: RawHeaders, isKept: (name: string) => boolean): string[] {
  const pairs = raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []))
  // `Connection` names further headers of this connection.
  const named = new Set(
    pairs
      .filter(([name = '']) => name.toLowerCase() === 'connection')
      .flatMap(([, value = '']) => value.split(',').map((word) => word.trim().toLowerCase())),
  )
  return pairs.filter(([name = '']) => isKept(name.toLowerCase()) && !named.has(name.toLowerCase())).flat()
}
