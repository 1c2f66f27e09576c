/** What is used of DuckDB, which reads archives as others do. */
declare module '@duckdb/node-api' {
  interface Connection {
    runAndReadAll(sql: string): Promise<{ getRowObjects(): Record<string, unknown>[] }>
    closeSync(): void
  }
  export const DuckDBInstance: {
    create(path: string): Promise<{ connect(): Promise<Connection> }>
  }
}
