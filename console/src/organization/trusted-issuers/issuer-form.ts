import { ApiError } from '../../api/api-error.ts'
import type { KeyEnvironment } from '../../api/keys.ts'
import { readJson } from '../../ui/forms/read-json.ts'
import type { IssuerDraft, Jwks, TrustedIssuer } from '../../api/trusted-issuers.ts'

/** What the form holds: every field as text or a switch. */
export interface IssuerForm {
  readonly name: string
  readonly issuer: string
  readonly audience: string
  readonly algorithms: readonly Algorithm[]
  /** JSON. Empty: the issuer is asked for its keys. */
  readonly jwks: string
  readonly rules: readonly RuleForm[]
}

export interface RuleForm {
  /** For the list on the page only. */
  readonly key: number
  readonly claims: readonly ClaimForm[]
  readonly serviceAccountId: string
  readonly minutes: string
  readonly env: KeyEnvironment
  readonly isOnce: boolean
}

interface ClaimForm {
  readonly key: number
  readonly name: string
  readonly value: string
}

export type Algorithm = TrustedIssuer['algorithms'][number]

export const ALGORITHMS: readonly Algorithm[] = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
]

let keys = 0

export function newClaim(name = '', value = ''): ClaimForm {
  keys += 1
  return { key: keys, name, value }
}

export function newRule(claims: readonly (readonly [string, string])[], serviceAccountId = ''): RuleForm {
  keys += 1
  const rows = claims.map(([name, value]) => newClaim(name, value))
  return { key: keys, claims: rows, serviceAccountId, minutes: '15', env: 'prod', isOnce: false }
}

export function formOf(trusted: TrustedIssuer): IssuerForm {
  const { name, issuer, audience, algorithms, jwks, rules } = trusted
  return {
    name,
    issuer,
    audience,
    algorithms,
    jwks: jwks === null ? '' : JSON.stringify(jwks, null, 2),
    rules: rules.map((rule) => ({
      ...newRule(Object.entries(rule.claims), rule.service_account_id),
      minutes: String(rule.lifetime_seconds / 60),
      env: rule.env,
      isOnce: rule.once,
    })),
  }
}

/** What the form says. Throws for keys that are no JSON, and for a claim that is named twice. */
export function draftOf(form: IssuerForm): IssuerDraft {
  const problem = problemOfJwks(form.jwks)
  if (problem !== null) throw new ApiError(problem, { code: 'invalid_form' })
  return {
    name: form.name.trim(),
    issuer: form.issuer.trim(),
    audience: form.audience.trim(),
    algorithms: [...form.algorithms],
    jwks: form.jwks.trim() === '' ? null : (JSON.parse(form.jwks) as Jwks),
    rules: form.rules.map((rule, index) => ({
      claims: claimsOf(rule, index),
      service_account_id: rule.serviceAccountId,
      lifetime_seconds: Math.round(Number(rule.minutes) * 60),
      env: rule.env,
      once: rule.isOnce,
    })),
  }
}

function claimsOf({ claims }: RuleForm, index: number): Record<string, string> {
  const named = claims.map(({ name, value }) => [name.trim(), value.trim()] as const)
  const twice = named.find(([name], place) => named.findIndex(([other]) => other === name) !== place)
  if (twice !== undefined)
    throw new ApiError(`Rule ${index + 1} names the claim “${twice[0]}” twice. A claim has one value.`, {
      code: 'invalid_form',
    })
  return Object.fromEntries(named)
}

/** What is wrong with the text of the keys, or null. */
export function problemOfJwks(text: string): string | null {
  if (text.trim() === '') return null
  const read = readJson(text)
  if (read.problem !== null) return read.problem
  const { value } = read
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'keys') : undefined
  return Array.isArray(found) && found.length > 0
    ? null
    : 'Public keys look like {"keys": [{"kty": "RSA", …}]}.'
}

/** The API counts rules from 0 and names members. People see rules numbered from 1. */
export function explainRefusal(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.param?.startsWith('rules.') !== true) return error
  const message = error.message.replaceAll(
    /rules\.(\d+)\.claims(?:\.([\w./-]+))?/g,
    (_, index: string, claim?: string) =>
      claim === undefined ? `Rule ${Number(index) + 1}` : `The claim “${claim}” of rule ${Number(index) + 1}`,
  )
  return new ApiError(message, error)
}
