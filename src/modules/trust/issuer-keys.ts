import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { BoundedMap } from '../../kernel/bounded-map.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'
import type { Outbound } from '../../outbound/outbound.ts'

/** Then the keys are read again when a token is checked. */
const FRESH_MS = 10 * 60_000
/** An issuer that is away does not stop machines for so long. Afterwards its keys may have been withdrawn without our knowing. */
const KNOWN_MS = 24 * 3_600_000
/** Tokens with keys that do not exist do not make us ask more often. */
const ASK_AGAIN_MS = 30_000
const TIMEOUT_MS = 5_000
const ANSWER_BYTES_MAX = 256 * 1024
const KEYS_MAX = 100
const ISSUERS_MAX = 500

/** The issuer, or where it says its keys are, does not answer properly. */
export class IssuerAway extends Error {}

export interface IssuerKeys {
  /** Returns what finds the key of a token. Throws `IssuerAway` if no keys are known. */
  read(issuer: string): Promise<JWTVerifyGetKey>
  /** The same after a token had a key that is not known. Null if the issuer was asked just now. */
  readAgain(issuer: string): Promise<JWTVerifyGetKey | null>
}

interface Known {
  find: JWTVerifyGetKey | null
  readAtMs: number
  askedAtMs: number
  asking: Promise<void> | null
}

/** Keeps the public keys of issuers. They are the same for all accounts that trust an issuer. */
export function createIssuerKeys({
  outbound,
  nowMs,
}: {
  readonly outbound: Pick<Outbound, 'fetch'>
  readonly nowMs: () => number
}): IssuerKeys {
  const known = new BoundedMap<string, Known>({ entriesMax: ISSUERS_MAX })

  const ask = (issuer: string, entry: Known): Promise<void> => {
    entry.askedAtMs = nowMs()
    entry.asking ??= fetchKeys(outbound, issuer)
      .then((jwks) => {
        entry.find = createLocalJWKSet(jwks)
        entry.readAtMs = nowMs()
      })
      .finally(() => {
        entry.asking = null
      })
    return entry.asking
  }
  const entryOf = (issuer: string): Known => {
    const found = known.get(issuer)
    if (found !== undefined) return found
    const entry = { find: null, readAtMs: -Infinity, askedAtMs: -Infinity, asking: null }
    known.set(issuer, entry)
    return entry
  }
  const mayAsk = ({ askedAtMs, asking }: Known): boolean =>
    asking !== null || nowMs() - askedAtMs >= ASK_AGAIN_MS

  return {
    read: async (issuer) => {
      const entry = entryOf(issuer)
      const ageMs = nowMs() - entry.readAtMs
      if (entry.find !== null && ageMs < FRESH_MS) return entry.find
      const failure: unknown = mayAsk(entry)
        ? await ask(issuer, entry).then(
            () => null,
            (error: unknown) => error,
          )
        : new IssuerAway('asked just now')
      if (entry.find !== null && (failure === null || ageMs < KNOWN_MS)) return entry.find
      throw failure instanceof IssuerAway ? failure : new IssuerAway('no keys', { cause: failure })
    },
    readAgain: async (issuer) => {
      const entry = entryOf(issuer)
      if (!mayAsk(entry)) return null
      await ask(issuer, entry).catch(() => undefined)
      return entry.find
    },
  }
}

/** Asks the issuer where its keys are, and reads them. Redirects are not followed. */
async function fetchKeys(outbound: Pick<Outbound, 'fetch'>, issuer: string): Promise<JSONWebKeySet> {
  const base = issuer.replace(/\/+$/, '')
  const metadata = await fetchJson(outbound, `${base}/.well-known/openid-configuration`)
  const { issuer: named, jwks_uri: address } = metadata
  if (named !== issuer) throw new IssuerAway('the metadata are of another issuer')
  const isSafe = (url: string): boolean => new URL(url).protocol === new URL(issuer).protocol
  if (
    typeof address !== 'string' ||
    !URL.canParse(address) ||
    !(address.startsWith('https:') || isSafe(address))
  )
    throw new IssuerAway('the metadata name no address of keys')
  const { keys } = await fetchJson(outbound, address)
  if (!Array.isArray(keys)) throw new IssuerAway('there is no list of keys')
  // Secrets shared with others are no keys to trust.
  const usable = keys.filter(
    (key): key is JSONWebKeySet['keys'][number] => isRecord(key) && key['kty'] !== 'oct',
  )
  return { keys: usable.slice(0, KEYS_MAX) }
}

async function fetchJson(
  outbound: Pick<Outbound, 'fetch'>,
  url: string,
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await outbound.fetch({
    url,
    headers: { accept: 'application/json' },
    bytesMax: ANSWER_BYTES_MAX,
    timeoutMs: TIMEOUT_MS,
  })
  if (answer.status !== 200) {
    answer.discard()
    throw new IssuerAway(`${url} answered ${answer.status}`)
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.body) chunks.push(chunk)
  const value = parseJson(Buffer.concat(chunks).toString())
  if (!isRecord(value)) throw new IssuerAway(`${url} answered no object`)
  return value
}
