import { isRecord } from '../../kernel/is-record.ts'

/** Claims whose values may have wildcards. Their parts are separated by `/` and `:`. */
const WITH_WILDCARDS: ReadonlySet<string> = new Set(['sub', 'repository', 'ref'])
/** Longer values are no names of anything. */
const VALUE_LENGTH_MAX = 1024

/** Whether a token has all claims of a rule. */
export function matchesClaims(
  payload: Readonly<Record<string, unknown>>,
  claims: Readonly<Record<string, string>>,
): boolean {
  const wanted = Object.entries(claims)
  return (
    wanted.length > 0 && wanted.every(([name, value]) => matchesClaim(name, readClaim(payload, name), value))
  )
}

/**
 * Returns a claim by its name, or by the way to it: `kubernetes.io/namespace`. A claim that has the whole text as its name comes first,
 * because names of claims are often addresses.
 */
function readClaim(payload: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name]
  let value: unknown = payload
  for (const part of name.split('/')) {
    if (!isRecord(value) || !Object.hasOwn(value, part)) return undefined
    value = value[part]
  }
  return value
}

function matchesClaim(name: string, claim: unknown, wanted: string): boolean {
  if (Array.isArray(claim)) return claim.some((entry) => typeof entry === 'string' && entry === wanted)
  const value = typeof claim === 'number' || typeof claim === 'boolean' ? String(claim) : claim
  if (typeof value !== 'string' || value.length > VALUE_LENGTH_MAX) return false
  return hasWildcard(name, wanted) ? fits(value, wanted) : value === wanted
}

export function hasWildcard(name: string, wanted: string): boolean {
  return WITH_WILDCARDS.has(name) && wanted.includes('*')
}

/**
 * `*` stands for a part of a name, `**` for several with `/` between them. Neither goes over a colon, where another name begins. All ways
 * to fit are followed at once, so that no value takes long.
 */
function fits(value: string, pattern: string): boolean {
  const tokens = pattern.match(/\*{1,2}|[^*]/gs) ?? []
  let places = new Set(skipWildcards(tokens, 0))
  for (const character of value) {
    const next = new Set<number>()
    for (const place of places) {
      const token = tokens[place]
      if (token === character && token !== '*')
        for (const later of skipWildcards(tokens, place + 1)) next.add(later)
      else if (token !== undefined && mayStandFor(token, character))
        for (const later of skipWildcards(tokens, place)) next.add(later)
    }
    places = next
  }
  return places.has(tokens.length)
}

/** A place, and those behind the wildcards there, which may stand for nothing. */
function skipWildcards(tokens: readonly string[], from: number): number[] {
  const places = [from]
  for (let place = from; tokens[place]?.startsWith('*') === true; place += 1) places.push(place + 1)
  return places
}

function mayStandFor(token: string, character: string): boolean {
  return token.startsWith('*') && character !== ':' && (token === '**' || character !== '/')
}
