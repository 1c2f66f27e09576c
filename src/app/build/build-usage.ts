import type { Clock } from '../../kernel/clock.ts'
import type { Ledger } from '../../modules/ledger/ledger.ts'
import { createRequestLog, type RequestLog } from '../../modules/request-log/request-log.ts'
import { createUsage, type Usage } from '../../modules/usage/usage.ts'
import type { Database } from '../../storage/database.ts'

export interface BuiltUsage {
  readonly usage: Usage
  readonly requestLog: RequestLog
}

interface Parts {
  readonly database: Database
  readonly clock: Clock
  readonly ledger: Ledger
}

export function buildUsage({ database, clock, ledger }: Parts): BuiltUsage {
  const usage = createUsage({ database, clock, ledger })
  return { usage, requestLog: createRequestLog({ database, usage }) }
}
