import { silentLogger } from '../../src/kernel/logger.ts'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { keepPartitions } from '../../src/storage/partitions/keep-partitions.ts'

// Keeps the partitions of one table, as a gateway does, until it is killed.
const [, , connectionString = ''] = process.argv
const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
keepPartitions({
  database,
  connectionString,
  logger: silentLogger,
  retentions: [],
  areIndexesReady: async () => true,
  tables: [{ name: 'notes', step: 'day', ahead: 1 }],
})
process.stdin.resume()
