import type { Logger } from '../../../kernel/logger.ts'
import type { Static } from 'typebox'
import type { Ledger } from '../../../modules/ledger/ledger.ts'
import { inAccount } from '../../access.ts'
import { listAnswer } from '../../answers/list-page.ts'
import { sendCsv } from '../../answers/send-csv.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'
import {
  entryToWire,
  LEDGER_RESPONSE,
  LedgerQuery,
  parseEntryFilter,
  parseEntryPage,
  writeLedgerCsv,
} from './ledger-wire.ts'

export interface LedgerRouteParts {
  readonly ledger: Pick<Ledger, 'listEntries' | 'walkEntries'>
  readonly logger: Logger
}

export const ledgerRoutes = (parts: LedgerRouteParts): Route[] => [
  defineRoute({
    method: 'GET',
    tag: 'Payments',
    path: '/v1/ledger',
    access: inAccount('billing.manage'),
    summary: 'List every movement of the credit',
    query: LedgerQuery,
    responses: { 200: LEDGER_RESPONSE },
    handle: async (request) => sendEntries(parts, request, request.caller.accountId),
  }),
]

type LedgerRequest = Pick<RouteRequest<unknown, unknown, unknown>, 'reply' | 'exchange'> & {
  readonly query: Static<typeof LedgerQuery>
}

/** Answers with a page of an account's entries, or with all of them as a file. */
export async function sendEntries(
  { ledger, logger }: LedgerRouteParts,
  { query, reply, exchange }: LedgerRequest,
  accountId: string,
): Promise<unknown> {
  const filter = parseEntryFilter(query)
  if (query.format === 'csv') {
    const pieces = writeLedgerCsv(ledger.walkEntries(accountId, filter))
    return sendCsv(reply, { name: 'ledger.csv', pieces, logger, cancellation: exchange.cancellation })
  }
  const page = await ledger.listEntries(accountId, parseEntryPage(query), filter)
  return { ...listAnswer('entries', page, entryToWire), total_is_exact: page.isTotalExact }
}
