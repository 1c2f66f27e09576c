import { Pool } from 'pg'
import { expect } from 'vitest'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'

export interface OpenDatabase {
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into rows and fail loudly on a wrong shape
  query(sql: string, values?: unknown[]): Promise<any[]>
  /** Fails the test file unless every balance is the sum of its entries by now. */
  close(): Promise<void>
}

/** The gateway's own database, for what a test cannot see or wait for over HTTP. */
export function openTestDatabase({ connectionString }: TestGateway): OpenDatabase {
  const pool = new Pool({ connectionString, max: 1, options: '-c search_path=parkway' })
  // The pool has ended before its connections have, and the database is dropped from under them.
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
