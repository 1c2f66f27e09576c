import { booleanSetting, databaseUrlSetting, integerSetting } from './setting.ts'

/** Settings of the connections to PostgreSQL. */
export const DATABASE_SETTINGS = {
  databaseUrl: databaseUrlSetting({
    environment: 'DATABASE_URL',
    description:
      'A PostgreSQL (14 or later) to use instead of the embedded one. Several hosts with commas between them: the one that takes writes is used.',
    isSecret: true,
  }),
  databaseReadUrl: databaseUrlSetting({
    environment: 'DATABASE_READ_URL',
    description:
      'A standby of the same PostgreSQL, for usage, the request log and their files. While it is away or too far behind, the primary is read.',
    isSecret: true,
  }),
  databaseReadLagMs: integerSetting(
    {
      environment: 'PARKWAY_DATABASE_READ_LAG_MS',
      description: 'How old the data of that standby may be.',
    },
    { default: 5_000, minimum: 100, maximum: 600_000 },
  ),
  databaseConnectTimeoutMs: integerSetting(
    {
      environment: 'PARKWAY_DATABASE_CONNECT_TIMEOUT_MS',
      description: 'How long a query waits for a database connection, also while the server restarts.',
    },
    { default: 5_000, minimum: 100, maximum: 60_000 },
  ),
  databasePoolSize: integerSetting(
    { environment: 'PARKWAY_DATABASE_POOL_SIZE', description: 'Database connections of each process.' },
    { default: 10, minimum: 2, maximum: 200 },
  ),
  statementTimeoutMs: integerSetting(
    { environment: 'PARKWAY_STATEMENT_TIMEOUT_MS', description: 'Longest a database statement may take.' },
    { default: 10_000, minimum: 100, maximum: 600_000 },
  ),
  prepareStatements: booleanSetting(
    {
      environment: 'PARKWAY_PREPARE_STATEMENTS',
      description: 'Plans each statement once a connection. Off behind a pooler that cannot keep them.',
    },
    true,
  ),
}
