import { Client } from 'pg'
import type { TestGateway } from '../support/start-test-gateway.ts'

/** Gives a person an identity at a provider that nobody asks. Returns the id of the provider, by which the identity is known. */
export async function insertIdentity(gateway: TestGateway, userId: string, name: string): Promise<string> {
  const { status, body } = await gateway.request('POST', '/v1/admin/identity-providers', {
    body: { name, issuer: 'https://sign-in.example.com', client_id: name, account_rule: 'invited' },
  })
  if (status !== 201) throw new Error(`the provider was not added: ${JSON.stringify(body)}`)
  const database = new Client({
    connectionString: gateway.connectionString,
    options: '-c search_path=parkway',
  })
  await database.connect()
  await database.query(
    `INSERT INTO identities (provider_id, subject, account_id, user_id)
     SELECT $1, $3, account_id, user_id FROM account_members WHERE user_id = $2`,
    [body.id, userId.replace('user-', ''), name],
  )
  await database.end()
  return String(body.id)
}
