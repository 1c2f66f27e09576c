import { afterEach, beforeEach, expect, test } from 'vitest'
import { wholeAccount } from '../../../storage/place.ts'
import { createSealer } from '../../../kernel/seal-text.ts'
import { readTokenOfRun } from './hub-tokens.ts'
import { createDeploymentStage, ORDER, type DeploymentStage } from '../testing/deployment-stage.ts'

let stage: DeploymentStage
beforeEach(async () => {
  stage = await createDeploymentStage()
})
afterEach(() => stage.close())

const TOKEN = 'hf_of_the_account'

/** All rows of the database as text. */
async function dump(): Promise<string> {
  const tables = await stage.database.query<{ name: string }>(
    `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'parkway'`,
  )
  const rows: unknown[] = []
  for (const { name } of tables)
    rows.push(...(await stage.database.query(`SELECT t::text AS row FROM ${name} t`)))
  return JSON.stringify(rows)
}

test('a token is passed to the driver at every start, stored only encrypted, and deleted with its deployment', async () => {
  const caller = await stage.createCaller(10)
  const { id } = await stage.deployments.create(caller, { ...ORDER, hubToken: TOKEN })
  const process = stage.startProcess()
  await stage.pass(process, 60_000)
  await stage.deployments.setDesiredState(caller, id, 'stopped')
  await stage.pass(process, 60_000)
  await stage.deployments.setDesiredState(caller, id, 'running')
  await stage.pass(process, 60_000)
  expect(stage.launched.map(({ hubToken }) => hubToken)).toEqual([TOKEN, TOKEN])
  const [, run] = stage.launched
  const readOfRun = () => readTokenOfRun(stage.database, stage.sealer, run?.instanceId ?? '')
  expect(await readOfRun()).toBe(TOKEN)
  const kept = await dump()
  expect([kept.includes(id), kept.includes(TOKEN)]).toEqual([true, false])
  expect(kept).not.toContain(Buffer.from(TOKEN).toString('hex'))
  await stage.deployments.setDesiredState(caller, id, 'deleted')
  expect(await stage.database.query('SELECT FROM deployment_tokens')).toEqual([])
  expect(await readOfRun()).toBeNull()
})

test('a deployment without a token is launched without one', async () => {
  const caller = await stage.createCaller(10)
  await stage.deployments.create(caller, ORDER)
  await stage.pass(stage.startProcess(), 60_000)
  expect(stage.launched.map(({ hubToken }) => hubToken)).toEqual([null])
})

test('a token that cannot be decrypted is told as such, and is not taken for none', async () => {
  const caller = await stage.createCaller(10)
  const { id } = await stage.deployments.create(caller, { ...ORDER, hubToken: TOKEN })
  const other = createSealer('another key').seal(TOKEN, id)
  await stage.database.query('UPDATE deployment_tokens SET sealed = $1', [other])
  await stage.pass(stage.startProcess(), 60_000)
  expect(stage.launched).toEqual([])
  const { deployment } = await stage.deployments.readBill(wholeAccount(caller.accountId), id)
  expect(deployment).toMatchObject({
    status: 'error',
    errorCode: 'hub_token_unreadable',
    errorMessage: expect.stringContaining('another sealing key'),
  })
})
