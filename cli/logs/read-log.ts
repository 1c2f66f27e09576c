import type { paths } from '../../api-types/generated/gateway-api.ts'
import type { GatewayClient } from '../api/gateway-client.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'

type OwnLog = paths['/v1/requests']['get']
type EveryLog = paths['/v1/admin/requests']['get']

/** A request of the log. Those of all accounts name their account. */
export type LogEntry = OwnLog['responses'][200]['content']['application/json']['data'][number] & {
  readonly account_name?: string | null
}
export type LogQuery = NonNullable<OwnLog['parameters']['query']>

/** Which requests to read. */
export interface LogSelection {
  /** Whether those of all accounts, which only operators can. */
  readonly isOfAll: boolean
  readonly query: LogQuery & NonNullable<EveryLog['parameters']['query']>
}

const PAGE_SIZE_MAX = 100

interface LogPage {
  readonly data: readonly LogEntry[]
  readonly next_cursor: string | null
}

/**
 * Yields the pages of the log, newest first. With a rare filter a page may be empty before the end, so that the number of pages is
 * bounded and not that of requests.
 */
export async function* readLogPages(
  gateway: GatewayClient,
  { isOfAll, query }: LogSelection,
  { pagesMax, sizeMax = PAGE_SIZE_MAX }: { readonly pagesMax: number; readonly sizeMax?: number },
): AsyncGenerator<LogPage> {
  let after: string | null = null
  for (let page = 0; page < pagesMax; page += 1) {
    const params: { query: LogSelection['query'] } = {
      query: { ...query, limit: Math.min(sizeMax, PAGE_SIZE_MAX), ...(after && { after }) },
    }
    const read: LogPage | string = await gateway.call<LogPage | string>((routes) =>
      isOfAll ? routes.GET('/v1/admin/requests', { params }) : routes.GET('/v1/requests', { params }),
    )
    if (typeof read === 'string') throw new CommandFailure(EXIT.failed, 'The gateway sent a file.')
    yield read
    after = read.next_cursor
    if (after === null) return
  }
}
