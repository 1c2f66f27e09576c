import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import { issueKey } from '../change/issue-key.ts'
import { createTestDatabase, type TestDatabase } from '../../../storage/testing/test-database.ts'
import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import type { Database } from '../../../storage/database.ts'
import { readCaller } from './read-caller.ts'

const accountId = createId()
const projectId = createId()
const userId = createId()
const serviceAccountId = createId()
const nowMs = Date.UTC(2030, 0, 1)

let testDatabase: TestDatabase
let database: Database

beforeEach(async () => {
  testDatabase = await createTestDatabase()
  const { connectionString } = testDatabase
  database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 10_000 })
  await database.query(`INSERT INTO accounts (id, name) VALUES ($1, 'Ada')`, [accountId])
  await database.query(`INSERT INTO projects (id, account_id, name) VALUES ($1, $2, 'Search')`, [
    projectId,
    accountId,
  ])
  await database.query(`INSERT INTO users (id, email) VALUES ($1, 'ada@example.com')`, [userId])
  await database.query(`INSERT INTO account_members (account_id, user_id, role) VALUES ($1, $2, 'reader')`, [
    accountId,
    userId,
  ])
  await database.query(
    `INSERT INTO project_members (project_id, account_id, user_id, role) VALUES ($1, $2, $3, 'member')`,
    [projectId, accountId, userId],
  )
  await database.query(
    `INSERT INTO service_accounts (id, account_id, project_id, name, role) VALUES ($1, $2, $3, 'CI', 'member')`,
    [serviceAccountId, accountId, projectId],
  )
})

afterEach(async () => {
  await database.close()
  await testDatabase.drop()
})

const issue = async (owner: object): Promise<string> => {
  const draft = { name: 'key', environment: 'dev', scopes: ['inference'], ...owner } as const
  const { record } = await issueKey(database, { accountId, draft, nowMs })
  return record.id
}
const isRefused = (keyId: string): Promise<boolean> =>
  readCaller(database, { accountId, keyId, nowMs }).then(
    () => false,
    () => true,
  )

test('the project of an account that already existed is the one with its id', async () => {
  const [row] = await database.query('SELECT name FROM projects WHERE id = $1', [accountId])
  expect(row).toEqual({ name: 'Default' })
})

describe('a key of a person in a project', () => {
  test.each([
    ['the person is deactivated', `UPDATE users SET status = 'deactivated'`],
    ['the person leaves the account', 'DELETE FROM account_members'],
    ['the person leaves the project', 'DELETE FROM project_members'],
    ['the project is archived', `UPDATE projects SET archived_at = now() WHERE name = 'Search'`],
  ])('is refused after %s', async (_, change) => {
    const key = await issue({ projectId, userId })
    expect(await isRefused(key)).toBe(false)
    await database.query(change)
    expect(await isRefused(key)).toBe(true)
  })

  test('works without a membership of the project if the person owns the account', async () => {
    const key = await issue({ projectId, userId })
    await database.query(`UPDATE account_members SET role = 'owner'`)
    await database.query('DELETE FROM project_members')
    expect(await isRefused(key)).toBe(false)
  })
})

describe('a key of a person who is in the project by a group only', () => {
  const groupId = createId()

  beforeEach(async () => {
    await database.query('DELETE FROM project_members')
    await database.query(`INSERT INTO groups (id, account_id, name) VALUES ($1, $2, 'Engineers')`, [
      groupId,
      accountId,
    ])
    await database.query('INSERT INTO group_members (group_id, account_id, user_id) VALUES ($1, $2, $3)', [
      groupId,
      accountId,
      userId,
    ])
    await database.query(
      `INSERT INTO project_groups (project_id, account_id, group_id, role) VALUES ($1, $2, $3, 'member')`,
      [projectId, accountId, groupId],
    )
  })

  test.each([
    ['the person leaves the group', 'DELETE FROM group_members'],
    ['the group leaves the project', 'DELETE FROM project_groups'],
    ['the group is deleted', 'DELETE FROM groups'],
    ['the person leaves the account', 'DELETE FROM account_members'],
  ])('is refused after %s', async (_, change) => {
    const keyId = await issue({ projectId, userId })
    const { groupIds, scopes } = await readCaller(database, { accountId, keyId, nowMs })
    expect([groupIds, [...scopes]]).toEqual([[groupId], ['inference']])
    await database.query(change)
    expect(await isRefused(keyId)).toBe(true)
  })
})

test('a key of a service account is refused after that is deleted or its project archived', async () => {
  const key = await issue({ projectId, serviceAccountId })
  expect(await isRefused(key)).toBe(false)
  await database.query('UPDATE service_accounts SET deleted_at = now()')
  expect(await isRefused(key)).toBe(true)
  await database.query('UPDATE service_accounts SET deleted_at = NULL')
  await database.query(`UPDATE projects SET archived_at = now() WHERE name = 'Search'`)
  expect(await isRefused(key)).toBe(true)
})

test('a key of the account does not depend on people and projects', async () => {
  const key = await issue({})
  await database.query('DELETE FROM account_members')
  expect(await isRefused(key)).toBe(false)
})
