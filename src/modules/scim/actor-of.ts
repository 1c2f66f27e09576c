import type { AccountChange } from '../audit/audit.ts'
import type { Directory } from './tokens/scim-tokens.ts'

/** Whom the audit log names for what a directory writes. */
export function actorOf({ accountId, name, origin }: Directory): AccountChange['actor'] {
  return { accountId, keyId: null, name: `SCIM: ${name}`, ...(origin !== undefined && { origin }) }
}
