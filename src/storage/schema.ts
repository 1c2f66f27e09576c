/** Everything of the gateway lives here, so that it can share a database with others and be backed up as one. */
export const SCHEMA = 'parkway'

/** Taken by who changes the schema, shared by who reads it whole. Any constant will do, as long as all use the same. */
export const SCHEMA_LOCK_ID = 7_275_929_001
