const PREPARED_STATEMENTS_MAX = 500

/**
 * Returns a function that names each statement, so that a connection plans it once. The number of names is limited, because the
 * server keeps each prepared statement until the connection ends.
 */
export function createStatementNames(): (sql: string) => string | undefined {
  const names = new Map<string, string>()
  return (sql) => {
    const known = names.get(sql)
    if (known !== undefined || names.size >= PREPARED_STATEMENTS_MAX) return known
    const name = `parkway_${names.size}`
    names.set(sql, name)
    return name
  }
}
