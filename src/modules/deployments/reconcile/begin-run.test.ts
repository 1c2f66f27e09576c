import { afterAll, beforeAll, expect, test } from 'vitest'
import { wholeAccount } from '../../../storage/place.ts'
import { createId } from '../../../kernel/identifiers.ts'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { stopForShortage } from './begin-run.ts'
import { claimDeployments } from './claim-deployments.ts'
import { createDeploymentStage, ORDER, type DeploymentStage } from '../testing/deployment-stage.ts'

let stage: DeploymentStage

beforeAll(async () => {
  stage = await createDeploymentStage()
})
afterAll(() => stage.close())

async function claimOne() {
  const owner = createId()
  const [claim] = await claimDeployments(stage.database, {
    owner,
    nowMs: stage.nowMs(),
    leaseMs: 30_000,
    countMax: 1,
    runningIds: [],
  })
  if (claim === undefined) throw new Error('nothing is due')
  const { database } = stage
  return { database, claim, clock: fakeClock(() => stage.nowMs()), billing: null, announce: async () => {} }
}

test('a deployment is stopped when its credit runs out', async () => {
  const caller = await stage.createCaller(10)
  const { id } = await stage.deployments.create(caller, ORDER)
  await stopForShortage(await claimOne(), 'balance')
  const { desiredState, statusReason } = await stage.deployments.read(wholeAccount(caller.accountId), id)
  expect([desiredState, statusReason]).toEqual(['stopped', 'insufficient_balance'])
})

test('a deployment that was deleted meanwhile stays deleted when its credit runs out', async () => {
  const caller = await stage.createCaller(10)
  const { id } = await stage.deployments.create(caller, ORDER)
  const reconciliation = await claimOne()
  await stage.deployments.setDesiredState(caller, id, 'deleted')
  expect((await stopForShortage(reconciliation, 'balance')).desiredState).toBe('deleted')
  await expect(stage.deployments.read(wholeAccount(caller.accountId), id)).rejects.toMatchObject({
    code: 'not_found',
  })
})
