/** Schema with all tables of the gateway, so that it can share a database and be backed up as a unit. */
export const SCHEMA = 'parkway'

/** Advisory lock: exclusive for schema changes, shared for backups. All processes must use the same constant. */
export const SCHEMA_LOCK_ID = 7_275_929_001
