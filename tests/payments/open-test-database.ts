import { Pool } from 'pg'
import type { TestGateway } from '../support/start-test-gateway.ts'

export interface OpenDatabase {
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into rows and fail loudly on a wrong shape
  query(sql: string, values?: unknown[]): Promise<any[]>
  close(): Promise<void>
}

/** The gateway's own database, for what a test cannot see or wait for over HTTP. */
export function openTestDatabase({ connectionString }: TestGateway): OpenDatabase {
  const pool = new Pool({ connectionString, max: 1, options: '-c search_path=parkway' })
  return {
    query: async (sql, values = []) => (await pool.query(sql, values)).rows,
    close: () => pool.end(),
  }
}
