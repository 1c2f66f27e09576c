import { silentLogger } from '../../../kernel/logger.ts'
import { connectDatabase } from '../../connection/connect-database.ts'
import { arrangePartitions, type KeepPartitionsOptions } from '../keep-partitions.ts'

/** Does what a started gateway does for its partitions. */
export async function arrangeOnce(
  connectionString: string,
  options: Partial<KeepPartitionsOptions> = {},
): Promise<void> {
  const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 30_000 })
  try {
    await arrangePartitions({
      database,
      connectionString,
      logger: silentLogger,
      retentions: [],
      areIndexesReady: async () => true,
      ...options,
    })
  } finally {
    await database.close()
  }
}
