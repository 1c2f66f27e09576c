import { invalidValue } from '../../kernel/app-error.ts'
import { hasWildcard } from './match-claims.ts'
import { TRUST_ALGORITHMS, type IssuerDraft, type TrustRule } from './trusted-issuer.ts'

const KEYS_MAX = 20
const JWKS_BYTES_MAX = 16 * 1024
/** Each costs time where a value nearly fits. */
const WILDCARDS_MAX = 4
/** Members of keys that only their owner may have. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
/** Claims that say who asks. Anybody at a public issuer can get a token with the others: a branch `main`, this audience. */
const WHO = new Set([
  'sub',
  'repository',
  'repository_id',
  'repository_owner',
  'repository_owner_id',
  'project_id',
  'project_path',
  'namespace_id',
  'namespace_path',
  'client_id',
  'azp',
  'email',
])
const WHO_IN_CLUSTER = 'kubernetes.io/'
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Throws for an issuer that cannot be trusted as it is described. */
export function checkIssuer({ issuer, algorithms, jwks, rules }: IssuerDraft): void {
  // A cluster without a public address may call itself anything.
  if (jwks === null) checkAddress(issuer)
  else checkKeys(jwks)
  if (!algorithms.every((name) => TRUST_ALGORITHMS.includes(name)))
    throw invalidValue('algorithms', `algorithms may have ${TRUST_ALGORITHMS.join(', ')}.`)
  for (const [index, rule] of rules.entries()) checkRule(rule, `rules.${index}.claims`)
}

function checkAddress(issuer: string): void {
  const url = URL.canParse(issuer) ? new URL(issuer) : null
  const isPlain = url !== null && url.search === '' && url.hash === '' && url.username + url.password === ''
  // Where the operator allows calls to this machine, for tests.
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname))
  if (!isPlain || !isSafe)
    throw invalidValue('issuer', 'issuer must be an https:// address, or `jwks` must have its keys.')
}

function checkKeys(jwks: NonNullable<IssuerDraft['jwks']>): void {
  const { keys } = jwks
  if (keys.length === 0 || keys.length > KEYS_MAX)
    throw invalidValue('jwks', `jwks must have 1 to ${KEYS_MAX} keys.`)
  if (Buffer.byteLength(JSON.stringify(jwks)) > JWKS_BYTES_MAX)
    throw invalidValue('jwks', `jwks may have at most ${JWKS_BYTES_MAX / 1024} KiB.`)
  for (const key of keys)
    if (key.kty === 'oct' || PRIVATE_MEMBERS.some((name) => name in key))
      throw invalidValue('jwks', 'jwks must have public keys only. Keep the private ones where they are.')
}

function checkRule({ claims }: TrustRule, param: string): void {
  const names = Object.keys(claims)
  if (!names.some((name) => WHO.has(name) || name.startsWith(WHO_IN_CLUSTER)))
    throw invalidValue(
      param,
      `${param} must say who asks: sub, repository or another claim that nobody else can have.`,
    )
  for (const [name, value] of Object.entries(claims)) {
    if (value.includes('*') && !hasWildcard(name, value))
      throw invalidValue(`${param}.${name}`, 'Only sub, repository and ref may have wildcards.')
    if (!hasWildcard(name, value)) continue
    if (value.startsWith('*') || value.split('*').length - 1 > WILDCARDS_MAX)
      throw invalidValue(
        `${param}.${name}`,
        `A pattern begins with a fixed text and has at most ${WILDCARDS_MAX} wildcards.`,
      )
  }
}
