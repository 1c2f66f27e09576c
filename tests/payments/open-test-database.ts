import { Pool } from 'pg'
import { expect } from 'vitest'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'

export interface OpenDatabase {
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into rows and fail loudly on a wrong shape
  query(sql: string, values?: unknown[]): Promise<any[]>
  /** Closes the database. Fails the test file if the ledger is inconsistent. */
  close(): Promise<void>
}

/** Opens the database of the gateway, for checks and changes that are not possible over HTTP. */
export function openTestDatabase({ connectionString }: TestGateway): OpenDatabase {
  const pool = new Pool({ connectionString, max: 1, options: '-c search_path=parkway' })
  // `pool.end` may resolve before the connections are closed; dropping the database then causes errors on them.
  pool.on('error', () => {})
  const query: OpenDatabase['query'] = async (sql, values = []) => (await pool.query(sql, values)).rows
  return {
    query,
    close: async () => {
      const checks = await verifyLedger({ query: (sql, values = []) => query(sql, [...values]) })
      await pool.end()
      expect(checks.flatMap(({ differences }) => differences)).toEqual([])
    },
  }
}
