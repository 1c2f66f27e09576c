import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import { createKeyring, createSealer } from '../../../kernel/seal-text.ts'
import { CAPABILITIES } from '../../../storage/borrowing/capabilities.ts'
import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import type { Database } from '../../../storage/database.ts'
import { resealColumn } from '../../../storage/sealed-columns.ts'
import { forgetAllSealed } from '../../../storage/sealed-tables.ts'
import { createTestDatabase, type TestDatabase } from '../../../storage/testing/test-database.ts'
import { createWebhookSecrets, SEALED_WEBHOOK_SECRETS, type WebhookSecrets } from './webhook-secret.ts'

let testDatabase: TestDatabase
let database: Database
let secrets: WebhookSecrets
let accountId: string

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  const { connectionString } = testDatabase
  database = connectDatabase({ connectionString, poolSize: 2, statementTimeoutMs: 10_000 })
  secrets = createWebhookSecrets({ database, sealer: createSealer('a key') })
})
afterAll(async () => {
  await database.close()
  await testDatabase.drop()
})
beforeEach(async () => {
  accountId = createId()
  await database.query("INSERT INTO accounts (id, name) VALUES ($1, 'caller')", [accountId])
  await database.query('DELETE FROM borrowers')
  await database.query('DELETE FROM webhook_secrets')
})

/** Registers a process. Without capabilities it is of the release before. */
async function startProcess(capabilities: readonly string[] = []): Promise<() => Promise<void>> {
  const id = createId()
  await database.query(
    `INSERT INTO borrowers (id, writer, expires_at, capabilities)
     SELECT $1, count(*), now() + interval '1 hour', $2::text[] FROM borrowers`,
    [id, capabilities],
  )
  return async () => void (await database.query('UPDATE borrowers SET closed_at = now() WHERE id = $1', [id]))
}

/** What the release before does when an account rotates its secret. */
const rotateAsBefore = (secret: string) =>
  database.query(
    `INSERT INTO webhook_secrets (account_id, secret) VALUES ($1, $2)
     ON CONFLICT (account_id) DO UPDATE SET secret = excluded.secret, previous_secret = webhook_secrets.secret,
       previous_until = now() + interval '24 hours', created_at = now()`,
    [accountId, secret],
  )

async function readStored(): Promise<{ clear: (string | null)[]; text: string }> {
  const [row] = await database.query<{ clear: (string | null)[]; text: string }>(
    `SELECT ARRAY[secret, previous_secret] AS clear, webhook_secrets::text AS text FROM webhook_secrets WHERE account_id = $1`,
    [accountId],
  )
  return row ?? { clear: [], text: '' }
}

describe('the secret of webhooks', () => {
  test('the secret of webhooks is sealed from its first moment, and so is the one before it', async () => {
    await startProcess(CAPABILITIES)
    const { secret } = await secrets.read(accountId)
    const rotated = await secrets.rotate(accountId)
    expect(await secrets.readSigning(accountId)).toEqual([rotated.secret, secret])
    const { clear, text } = await readStored()
    expect(clear).toEqual([null, null])
    for (const one of [secret, rotated.secret])
      for (const form of [one, Buffer.from(one).toString('hex')]) expect(text).not.toContain(form)
    expect(await secrets.sealClear()).toBe(0)
  })

  test('a secret in clear stays readable for a process of the release before, and is sealed when none is left', async () => {
    await startProcess(CAPABILITIES)
    const end = await startProcess()
    const { secret } = await secrets.read(accountId)
    expect([await secrets.sealClear(), (await readStored()).clear]).toEqual([0, [secret, null]])
    const rotated = await secrets.rotate(accountId)
    expect((await readStored()).clear).toEqual([rotated.secret, secret])
    await end()
    expect([await secrets.sealClear(), (await readStored()).clear]).toEqual([1, [null, null]])
    expect(await secrets.readSigning(accountId)).toEqual([rotated.secret, secret])
  })

  test('a secret that a process of the release before puts beside a sealed one is the newer of both', async () => {
    const { secret: first } = await secrets.read(accountId)
    const { secret: second } = await secrets.rotate(accountId)
    await rotateAsBefore('whsec_dGhpcmQ=')
    expect(await secrets.readSigning(accountId)).toEqual(['whsec_dGhpcmQ=', second])
    expect(await secrets.sealClear()).toBe(1)
    expect(await secrets.readSigning(accountId)).toEqual(['whsec_dGhpcmQ=', second])
    expect((await readStored()).clear).toEqual([null, null])
    await rotateAsBefore('whsec_Zm91cnRo')
    const { secret: fifth } = await secrets.rotate(accountId)
    expect(await secrets.readSigning(accountId)).toEqual([fifth, 'whsec_Zm91cnRo'])
    expect([first, second]).not.toContain(fifth)
  })

  test('a secret in clear is not sealed right after the update, when a process of the release before may still be starting', async () => {
    await database.query("UPDATE installation SET processes_settled_at = now() + interval '10 minutes'")
    const { secret } = await secrets.read(accountId)
    expect([await secrets.sealClear(), (await readStored()).clear]).toEqual([0, [secret, null]])
    await database.query("UPDATE installation SET processes_settled_at = now() - interval '1 second'")
    expect([await secrets.sealClear(), (await readStored()).clear]).toEqual([1, [null, null]])
  })

  test('secrets in clear are sealed in steps, however many there are', async () => {
    await database.query(
      `WITH made AS (INSERT INTO accounts (id, name) SELECT gen_random_uuid(), 'many' FROM generate_series(1, 120) RETURNING id)
       INSERT INTO webhook_secrets (account_id, secret) SELECT id, 'whsec_bWFueQ==' FROM made`,
    )
    expect(await secrets.sealClear()).toBe(120)
    const [left] = await database.query('SELECT 1 FROM webhook_secrets WHERE secret IS NOT NULL')
    expect(left).toBe(undefined)
  })

  test('a secret is sealed anew with another key, cannot be opened for another account, and is replaced when its key is forgotten', async () => {
    const { secret } = await secrets.read(accountId)
    const keyring = createKeyring('another key', ['a key'])
    for (const column of SEALED_WEBHOOK_SECRETS) await resealColumn(database, keyring, column)
    const later = createWebhookSecrets({ database, sealer: createSealer('another key') })
    expect((await later.read(accountId)).secret).toBe(secret)
    await expect(secrets.read(accountId)).rejects.toThrow('another key')
    const thief = createId()
    await database.query("INSERT INTO accounts (id, name) VALUES ($1, 'thief')", [thief])
    await database.query(
      'INSERT INTO webhook_secrets (account_id, sealed_secret) SELECT $1, sealed_secret FROM webhook_secrets WHERE account_id = $2',
      [thief, accountId],
    )
    await expect(later.read(thief)).rejects.toThrow('another key')
    await database.query(forgetAllSealed())
    const made = await secrets.read(accountId)
    expect([made.secret === secret, (await readStored()).clear]).toEqual([false, [null, null]])
  })
})
