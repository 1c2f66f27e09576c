import type { Queryable } from '../../../storage/database.ts'
import { SCOPES } from '../authenticate/caller.ts'
import { createKeyToken, environmentOfKey, KEY_FORM } from '../key-form.ts'
import { issueKey, type IssuedKey } from './issue-key.ts'

/** Issues the key with all scopes for the first account: the given one, or a new one. */
export async function issueFirstKey(
  transaction: Queryable,
  { accountId, token = createKeyToken('dev'), nowMs }: { accountId: string; token?: string; nowMs: number },
): Promise<IssuedKey> {
  const environment = environmentOfKey(token)
  // The message omits the key, because even a mistyped key contains most of the secret.
  if (environment === null) throw new Error(`The bootstrap key does not have the form ${KEY_FORM}.`)
  return issueKey(transaction, {
    accountId,
    draft: { name: 'First key', environment, scopes: SCOPES },
    token,
    nowMs,
  })
}
