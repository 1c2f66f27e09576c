import { chmod, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createLocalStage, type LocalStage } from './local-stage.ts'

let stage: LocalStage
const open = async (settings?: object, path?: string): Promise<LocalStage> => {
  stage = await createLocalStage(settings, path)
  return stage
}
afterEach(() => stage.close())

const launchReady = async (given: Parameters<LocalStage['order']>[0] = {}) => {
  const order = stage.order(given)
  await stage.driver.launch(order)
  await stage.settle()
  expect((await stage.driver.observe(order.instanceId)).state).toBe('ready')
  return order.instanceId
}

describe('the GPUs of this machine', () => {
  /** Answers as the documentation of nvidia-smi says. */
  const fakeSmi = async (lines: readonly string[], end = ''): Promise<string> => {
    const directory = await mkdtemp(join(tmpdir(), 'parkway-smi-'))
    const script = `#!/bin/sh\n[ "$1 $2" = "--query-gpu=index,name,memory.total,memory.free --format=csv,noheader,nounits" ] || exit 2\n${lines.map((line) => `echo '${line}'`).join('\n')}\n${end}\n`
    await writeFile(join(directory, 'nvidia-smi'), script)
    await chmod(join(directory, 'nvidia-smi'), 0o755)
    await mkdir(join(directory, 'bin'))
    return `${directory}:/usr/bin:/bin`
  }
  /** As an H200 with driver 580 says it, idle and with 30 GiB in use by somebody else. */
  const H200 = (freeMib: 143_156 | 111_818) => `0, NVIDIA H200, 143771, ${freeMib}`
  const H100 = (index: number, freeMib: number) => `${index}, NVIDIA H100 80GB HBM3, 81559, ${freeMib}`

  test('become one tier per model, without GPUs that other programs use, and an engine sees only its own GPU', async () => {
    const path = await fakeSmi([
      H100(0, 2_000),
      H100(1, 81_000),
      '2, NVIDIA L4, 23034, 22500',
      '3, Odd, [N/A], [N/A]',
    ])
    const { driver } = await open({ tiers: undefined }, path)
    expect(await driver.capacity()).toMatchObject([
      { id: 'h100_80gb', gpuName: 'NVIDIA H100 80GB HBM3', gpuCount: 1, vramGb: 80, availableCount: 1 },
      { id: 'l4_24gb', gpuName: 'NVIDIA L4', gpuCount: 1, vramGb: 24, availableCount: 1 },
    ])
    const id = await launchReady({ tierId: 'h100_80gb' })
    const plan = JSON.parse(await readFile(join(stage.directory, 'instances', id, 'plan.json'), 'utf8'))
    expect(plan.environment.CUDA_VISIBLE_DEVICES).toBe('1')
    expect((await driver.capacity())[0]?.availableCount).toBe(0)
  })

  test('are allocated in groups, and to one instance only unless they are shared', async () => {
    const path = await fakeSmi([0, 1, 2, 3].map((index) => H100(index, 81_000)))
    const { driver } = await open(
      {
        tiers: {
          one: { gpu_count: 1, gpus: [0, 1], price_per_hour_usd: 2 },
          two: { gpu_count: 2, gpus: [0, 1] },
          shared: { gpu_count: 1, gpus: [2, 3], shared_by: 2, memory_gb: 40 },
        },
      },
      path,
    )
    const free = async () => (await driver.capacity()).map(({ availableCount }) => availableCount)
    expect(await free()).toEqual([2, 1, 4])
    await launchReady({ tierId: 'one' })
    expect(await free()).toEqual([1, 0, 4])
    await launchReady({ tierId: 'shared' })
    expect(await free()).toEqual([1, 0, 3])
    const refused = stage.order({ tierId: 'two' })
    await driver.launch(refused)
    expect((await driver.observe(refused.instanceId)).failure?.code).toBe('capacity_exhausted')
    expect((await readdir(join(stage.directory, 'places', 'gpu-1.0')).catch(() => [])).length).toBe(0)
  })

  test('of a real machine are detected, and offered while enough of their memory is free', async () => {
    const readFree = async (line: string, settings: object = {}) => {
      const { driver } = await open({ tiers: undefined, ...settings }, await fakeSmi([line]))
      const tiers = await driver.capacity()
      await stage.close()
      return tiers.map(({ id, vramGb, availableCount }) => [id, vramGb, availableCount])
    }
    expect(await readFree(H200(143_156))).toEqual([['h200_141gb', 141, 1]])
    expect(await readFree(H200(111_818))).toEqual([['h200_141gb', 141, 0]])
    const tiers = { half: { gpu_count: 1, shared_by: 2, memory_gb: 70 } }
    expect(await readFree(H200(111_818), { tiers })).toEqual([['half', 70, 2]])
    await open()
  })

  test.each([
    [6, 'No devices were found'],
    [9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."],
  ])('are not offered if nvidia-smi exits with status %i', async (status, said) => {
    const { driver } = await open({ tiers: undefined }, await fakeSmi([], `echo "${said}"; exit ${status}`))
    expect(await driver.capacity()).toMatchObject([{ id: 'cpu_local', gpuCount: 0 }])
  })

  test('are not offered without nvidia-smi: the only tier is the processor', async () => {
    const { driver } = await open({ tiers: undefined }, '/nonexistent')
    expect(await driver.capacity()).toMatchObject([{ id: 'cpu_local', gpuCount: 0, availableCount: 1 }])
  })
})
