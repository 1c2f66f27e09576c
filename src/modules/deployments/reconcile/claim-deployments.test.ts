import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import { createDeploymentStage, ORDER, type DeploymentStage } from '../testing/deployment-stage.ts'
import { claimDeployments } from './claim-deployments.ts'

const LEASE_MS = 30_000

let stage: DeploymentStage

beforeAll(async () => {
  stage = await createDeploymentStage()
})
afterAll(() => stage.close())

async function claimIds(owner: string, runningIds: readonly string[] = []): Promise<string[]> {
  const order = { owner, nowMs: stage.nowMs(), leaseMs: LEASE_MS, countMax: 20, runningIds }
  return (await claimDeployments(stage.database, order)).map(({ deployment }) => deployment.id)
}

test('a process does not claim again what it works on if a step takes longer than the lease, but another one does', async () => {
  const { id } = await stage.deployments.create(await stage.createCaller(10), ORDER)
  const [slow, other] = [createId(), createId()]
  expect(await claimIds(slow)).toEqual([id])
  expect(await claimIds(other)).toEqual([])
  stage.skip(LEASE_MS)
  expect(await claimIds(slow, [id])).toEqual([])
  expect(await claimIds(other)).toEqual([id])
})

test('a process claims again what it could not release, when the lease has expired', async () => {
  const { id } = await stage.deployments.create(await stage.createCaller(10), ORDER)
  const owner = createId()
  expect(await claimIds(owner)).toContain(id)
  expect(await claimIds(owner)).not.toContain(id)
  stage.skip(LEASE_MS)
  expect(await claimIds(owner)).toContain(id)
})
