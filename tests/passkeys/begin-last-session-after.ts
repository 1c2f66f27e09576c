import { Client } from 'pg'
import type { TestGateway } from '../support/start-test-gateway.ts'

/** Writes that the latest session began a second after a key was made. */
export async function beginLastSessionAfter(
  { connectionString }: Pick<TestGateway, 'connectionString'>,
  keyId: string,
): Promise<void> {
  const database = new Client({ connectionString })
  await database.connect()
  await database.query(
    `UPDATE parkway.sessions
     SET created_at = (SELECT created_at + interval '1 second' FROM parkway.api_keys WHERE id = $1)
     WHERE id = (SELECT id FROM parkway.sessions ORDER BY id DESC LIMIT 1)`,
    [keyId],
  )
  await database.end()
}
