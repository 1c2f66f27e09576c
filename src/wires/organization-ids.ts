import { isUuid } from '../kernel/identifiers.ts'

/** How OpenAI's Administration API writes ids: a prefix and the 32 digits of ours. */
const PREFIXES = {
  organization: 'org-',
  project: 'proj_',
  user: 'user-',
  serviceAccount: 'svc_acct_',
  invite: 'invite-',
  group: 'group_',
  role: 'role_',
  grant: 'grant_',
  auditLog: 'audit_log-',
  budget: 'budget_',
  budgetRequest: 'budget_req_',
  managedSettings: 'settings_',
  trustedIssuer: 'issuer_',
  scimToken: 'scim_token_',
} as const

export type IdKind = keyof typeof PREFIXES

const DIGITS = /^[0-9a-f]{32}$/i

export function wireId(kind: IdKind, id: string): string {
  return PREFIXES[kind] + id.replaceAll('-', '').toLowerCase()
}

/** Returns the id that a client means, also written as a plain UUID. Returns null for a text that is none. */
export function parseWireId(kind: IdKind, text: string): string | null {
  if (isUuid(text)) return text.toLowerCase()
  const prefix = PREFIXES[kind]
  const digits = text.startsWith(prefix) ? text.slice(prefix.length).toLowerCase() : ''
  if (!DIGITS.test(digits)) return null
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join('-')
}
