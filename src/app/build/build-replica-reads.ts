import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Ledger } from '../../modules/ledger/ledger.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Queryable } from '../../storage/database.ts'
import {
  createReplicaReads,
  readPrimaryOnly,
  type ReplicaReads,
} from '../../storage/replica/replica-reads.ts'
import type { Config } from '../settings/config.ts'

/** A read goes to the primary instead of waiting longer. */
const CONNECT_TIMEOUT_MS = 1_000

interface Parts {
  readonly primary: Queryable
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'postCharges'>
  readonly logger: Logger
}

/** Builds where reads come from that may be a little old. */
export function buildReplicaReads(config: Config, { primary, clock, ledger, logger }: Parts): ReplicaReads {
  if (config.databaseReadUrl === null) return readPrimaryOnly(primary)
  const replica = connectDatabase({
    connectionString: config.databaseReadUrl,
    poolSize: config.databasePoolSize,
    statementTimeoutMs: config.statementTimeoutMs,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    prepareStatements: config.prepareStatements,
    isForReading: true,
    logger,
  })
  return createReplicaReads({
    primary,
    replica,
    clock,
    logger,
    lagMsMax: config.databaseReadLagMs,
    publish: () => ledger.postCharges(),
  })
}
