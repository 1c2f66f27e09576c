import { afterAll, beforeAll, expect, test } from 'vitest'
import type { GpuDriver } from '../../../gpu/gpu-driver.ts'
import { createDeploymentStage, ORDER, type DeploymentStage } from '../testing/deployment-stage.ts'
import { createGpuReader } from './read-gpus.ts'

let stage: DeploymentStage
let runId: string
let deploymentId: string

beforeAll(async () => {
  stage = await createDeploymentStage()
  deploymentId = (await stage.deployments.create(await stage.createCaller(10), ORDER)).id
  await stage.pass(stage.startProcess(), 60_000)
  runId = stage.launched[0]?.instanceId ?? ''
})
afterAll(() => stage.close())

const SAMPLE = { utilization: 0.5, memoryUsedGb: 20 }

/** Reads the GPU of the deployment from a driver with this method. */
async function readFrom(driver: Pick<GpuDriver, 'sampleGpus'>) {
  let queries = 0
  const database: typeof stage.database = {
    ...stage.database,
    query: (sql, values) => {
      queries += 1
      return stage.database.query(sql, values)
    },
  }
  const read = createGpuReader({ database, gpus: { drivers: [{ id: 'sandbox', ...driver }] } })
  return { samples: [...(await read([deploymentId]))], queries }
}

test('asks the driver about the current run, and ignores other instances', async () => {
  const asked: string[] = []
  const sampleGpus = async (ids: readonly string[]) => {
    asked.push(...ids)
    return new Map([
      [runId, SAMPLE],
      ['of another account', { utilization: 1, memoryUsedGb: 80 }],
    ])
  }
  expect((await readFrom({ sampleGpus })).samples).toEqual([[deploymentId, SAMPLE]])
  expect(asked).toEqual([runId])
})

test('has no figures if the driver fails', async () => {
  const sampleGpus = () => Promise.reject(new Error('nvidia-smi failed'))
  expect((await readFrom({ sampleGpus })).samples).toEqual([])
})

test('reads nothing if no driver measures its GPUs', async () => {
  expect(await readFrom({})).toEqual({ samples: [], queries: 0 })
})
