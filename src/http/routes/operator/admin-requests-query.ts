import { Type, type Static } from 'typebox'
import type { Accounts } from '../../../modules/accounts/accounts.ts'
import type { LogQuery, LogReader } from '../../../modules/request-log/request-log.ts'
import { parseAccountId, parseLogQuery, RequestsQuery } from '../account/request-log-query.ts'
import { Text } from '../account/usage-query.ts'

export const accountField = {
  account_id: Type.Optional(
    Type.String({ description: 'The id of an account: only its requests. Of all accounts if it is absent.' }),
  ),
}

export const AdminRequestsQuery = Type.Object({
  ...accountField,
  ...RequestsQuery.properties,
  error: Type.Optional(
    Text(
      'Only requests whose error, or the error of the upstream, has this in its code or message, in any case.',
    ),
  ),
  error_key: Type.Optional(Text('Only requests with this error, as `error_key` of an entry or a group.')),
})

/** Throws `not_found` for an account that does not exist. */
export async function readerOfQuery(
  accounts: Pick<Accounts, 'read'>,
  accountId: string | undefined,
): Promise<LogReader> {
  if (accountId !== undefined) await accounts.read(parseAccountId(accountId))
  return readerOf(accountId)
}

export function readerOf(accountId: string | undefined): LogReader {
  return {
    accountId: accountId === undefined ? null : parseAccountId(accountId),
    projectId: null,
    ownKeyId: null,
  }
}

export function parseAdminQuery(
  reader: LogReader,
  { error, error_key: errorKey, ...query }: Static<typeof AdminRequestsQuery>,
  nowMs: number,
): LogQuery {
  const parsed = parseLogQuery(reader, query, nowMs)
  return {
    ...parsed,
    filter: {
      ...parsed.filter,
      ...(error !== undefined && { anyErrorText: error }),
      ...(errorKey !== undefined && { errorKey }),
    },
  }
}
