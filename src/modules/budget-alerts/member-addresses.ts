import { invalidValue } from '../../kernel/app-error.ts'
import type { Queryable } from '../../storage/database.ts'

/**
 * SQL for those of a list of addresses that belong to members of the account: nobody has the gateway write to strangers, and whoever
 * leaves the account is told nothing more.
 */
export function addressesOfMembers(account: string, addresses: string): string {
  return `ARRAY(SELECT address FROM unnest(${addresses}) WITH ORDINALITY AS listed (address, place) WHERE EXISTS (
    SELECT FROM users JOIN account_members members ON members.user_id = users.id
    WHERE lower(users.email) = lower(address) AND users.status = 'active'
      AND members.account_id = ${account} AND members.suspended_at IS NULL) ORDER BY place)`
}

/** Throws for an address that is not one of a member. */
export async function requireMembers(
  queryable: Queryable,
  accountId: string,
  { param, emails }: { readonly param: string; readonly emails: readonly string[] },
): Promise<void> {
  if (emails.length === 0) return
  const [row] = await queryable.query<{ known: string[] }>(
    `SELECT ${addressesOfMembers('$1', '$2::text[]')} AS known`,
    [accountId, emails],
  )
  const stranger = emails.find((email) => row?.known.includes(email) !== true)
  if (stranger !== undefined)
    throw invalidValue(
      param,
      `${param}: ${stranger} is not the address of a member of the account. Invite it first.`,
    )
}
