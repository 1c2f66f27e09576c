import { afterEach } from 'vitest'
import { testGpuDriver } from '../../src/gpu/testing/test-gpu-driver.ts'
import { createLocalStage, type LocalStage } from './local-stage.ts'

let stage: LocalStage | null = null

afterEach(() => stage?.close())

testGpuDriver('local', async () => {
  const opened = await createLocalStage()
  stage = opened
  const settle = () => opened.settle()
  return {
    driver: opened.driver,
    tierId: 'cpu_local',
    settle,
    failing: { SANDBOX_FAILURE: 'out_of_memory' },
    measuresGpus: false,
  }
})
