import type { Payer } from '../memory/memory-hold.ts'

/** What a budget can be about. The value of `account` is nothing, of `tag` its text `name=value`, and of all others an id. */
export const SUBJECT_KINDS = ['account', 'project', 'group', 'user', 'service_account', 'key', 'tag'] as const
export type SubjectKind = (typeof SUBJECT_KINDS)[number]

/** The label of a tag: a short name, and a value without control characters, commas and further equals signs. */
export const TAG_LABEL = /^tag:[a-z0-9_.-]{1,64}=[^,=\p{Cc}\p{Cs}]{1,128}$/u

export interface Subject {
  readonly kind: SubjectKind
  /** Null for the account. */
  readonly value: string | null
}

/** The text under which a subject is stored. That of a tag or a group is the label of its charges. */
export function subjectText({ kind, value }: Subject): string {
  return value === null ? kind : `${kind}:${value}`
}

export function parseSubject(text: string): Subject {
  const colon = text.indexOf(':')
  const name = colon === -1 ? text : text.slice(0, colon)
  const kind = SUBJECT_KINDS.find((known) => known === name)
  if (kind === undefined) throw new Error(`'${text}' is no subject of a budget`)
  return { kind, value: colon === -1 ? null : text.slice(colon + 1) }
}

/** All subjects whose budgets count a request. The same as in `countSpending`. */
export function* subjectsOf(payer: Payer, labels: readonly string[]): Generator<string> {
  const { accountId, keyId, parent, projectId, userId, serviceAccountId } = payer
  yield 'account'
  yield `project:${projectId ?? accountId}`
  if (userId) yield `user:${userId}`
  if (serviceAccountId) yield `service_account:${serviceAccountId}`
  yield `key:${keyId}`
  if (parent) yield `key:${parent.keyId}`
  yield* labels
}
