import { afterEach } from 'vitest'
import { testGpuDriver } from '../../src/gpu/testing/test-gpu-driver.ts'
import { createKubernetesStage, type KubernetesStage } from './kubernetes-stage.ts'

let stage: KubernetesStage | null = null

afterEach(() => stage?.close())

testGpuDriver('kubernetes', async () => {
  const opened = await createKubernetesStage()
  stage = opened
  const settle = () => opened.settle()
  return {
    driver: opened.driver,
    tierId: 'h100_80gb',
    settle,
    failing: { SANDBOX_FAILURE: 'out_of_memory' },
    measuresGpus: false,
  }
})
