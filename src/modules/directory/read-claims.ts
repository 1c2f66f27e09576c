import { isRecord } from '../../kernel/is-record.ts'
import type { SealedProvider } from './identity-provider.ts'
import { SignInProblem } from './sign-in-problem.ts'

type Claims = Readonly<Record<string, unknown>>

/** What a provider says of somebody. */
export interface PersonAtProvider {
  readonly subject: string
  readonly email: string
  readonly domain: string
  readonly isEmailVerified: boolean
  readonly name: string | null
  /** Null: the provider did not say which, or groups are not followed. */
  readonly groups: readonly string[] | null
  /** Whether the provider left the groups out because they are too many. */
  readonly areGroupsMissing: boolean
  /** The session at the provider. */
  readonly session: string | null
  /** When the person last proved who they are there. */
  readonly authenticatedAtMs: number | null
}

const SUBJECT_LENGTH_MAX = 255
const NAME_LENGTH_MAX = 200
const SESSION_LENGTH_MAX = 255
const GROUPS_MAX = 1000
const GROUP_LENGTH_MAX = 256
/** Other letters have forms that a database or a browser takes for these. */
const EMAIL = /^[!-?A-~]{1,200}@[!-?A-~]{1,100}$/

/** Whether claims that a sign-in needs are in no ID token, so that the userinfo endpoint has to be asked. */
export function needsUserInfo(
  claims: Claims,
  { groupsClaim, needsVerifiedEmail }: Pick<SealedProvider, 'groupsClaim' | 'needsVerifiedEmail'>,
): boolean {
  const lacksGroups =
    groupsClaim !== null &&
    claimAt(claims, groupsClaim) === undefined &&
    !hasTooManyGroups(claims, groupsClaim)
  const lacksProof = needsVerifiedEmail && claims['email_verified'] === undefined
  return lacksGroups || lacksProof || emailOf(claims) === null
}

/** Reads a person from the claims of an ID token, and from those of the userinfo endpoint for what the token lacks. */
export function readPerson(
  token: Claims,
  userInfo: Claims,
  { groupsClaim, needsVerifiedEmail, allowedDomains }: SealedProvider,
): PersonAtProvider {
  const claims = { ...userInfo, ...token }
  const subject = textOf(token['sub'], SUBJECT_LENGTH_MAX)
  if (subject === null)
    throw new SignInProblem('invalid_answer', { detail: 'The subject is missing or too long.' })
  const email = emailOf(token) ?? emailOf(userInfo)
  if (email === null)
    throw new SignInProblem('no_email', {
      detail: 'Neither the ID token nor userinfo has a usable claim `email`.',
    })
  // Neither of them vouches for an address that only the other names.
  const isEmailVerified = [token, userInfo].some(
    (source) => emailOf(source) === email && isTrue(source['email_verified']),
  )
  if (needsVerifiedEmail && !isEmailVerified)
    throw new SignInProblem('unverified_email', { detail: `\`email_verified\` is not true for ${email}.` })
  const domain = domainOf(email)
  if (allowedDomains.length > 0 && !allowedDomains.includes(domain))
    throw new SignInProblem('foreign_domain', { detail: `${email} is in none of the allowed domains.` })
  const found = groupsClaim === null ? null : claimAt(claims, groupsClaim)
  const areGroupsMissing =
    groupsClaim !== null && found === undefined && hasTooManyGroups(claims, groupsClaim)
  return {
    subject,
    email,
    domain,
    isEmailVerified,
    name: nameOf(claims),
    groups: groupsClaim === null || areGroupsMissing ? null : readGroups(found),
    areGroupsMissing,
    session: textOf(token['sid'], SESSION_LENGTH_MAX),
    authenticatedAtMs: typeof token['auth_time'] === 'number' ? token['auth_time'] * 1000 : null,
  }
}

/** Entra's sign that somebody is in more groups than fit into a token. */
function hasTooManyGroups(claims: Claims, groupsClaim: string): boolean {
  const elsewhere = claims['_claim_names']
  return isTrue(claims['hasgroups']) || (isRecord(elsewhere) && elsewhere[groupsClaim] !== undefined)
}

/** A claim by its name, or by a path such as `realm_access.roles`. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, part)) return undefined
    value = value[part]
  }
  return value
}

/** A provider that names no groups says that there are none: otherwise somebody would keep what they had by their last one. */
function readGroups(value: unknown): string[] {
  const values = Array.isArray(value) ? value : [value]
  const names = values.filter((name): name is string => typeof name === 'string' && name !== '')
  const short = names.filter((name) => name.length <= GROUP_LENGTH_MAX && !name.includes('\0'))
  return [...new Set(short)].slice(0, GROUPS_MAX)
}

function emailOf(claims: Claims): string | null {
  const email = claims['email']
  return typeof email === 'string' && EMAIL.test(email) ? email : null
}

function domainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase()
}

function nameOf(claims: Claims): string | null {
  for (const member of ['name', 'preferred_username']) {
    const name = claims[member]
    if (typeof name !== 'string') continue
    const plain = name.replaceAll(/\p{Cc}/gu, ' ').trim()
    if (plain !== '') return plain.slice(0, NAME_LENGTH_MAX)
  }
  return null
}

function textOf(value: unknown, lengthMax: number): string | null {
  return typeof value === 'string' && value !== '' && value.length <= lengthMax && !value.includes('\0')
    ? value
    : null
}

/** Some providers write booleans as text. */
function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}
