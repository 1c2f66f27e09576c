import { chmod, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { fakeClock } from '../../src/kernel/testing/fake-clock.ts'
import { eventually } from '../support/eventually.ts'
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
  /** Answers the two queries of the driver as nvidia-smi does, and counts the queries of the load. */
  const fakeSmi = async (
    lines: readonly string[],
    end = '',
    load: readonly string[] = [],
  ): Promise<string> => {
    const directory = await mkdtemp(join(tmpdir(), 'parkway-smi-'))
    const echo = (said: readonly string[]) => said.map((line) => `echo '${line}'`).join('\n')
    const script = `#!/bin/sh
[ "$2" = "--format=csv,noheader,nounits" ] || exit 2
case "$1" in
--query-gpu=index,name,memory.total,memory.free) ${echo(lines)}
${end};;
--query-gpu=index,utilization.gpu,memory.used) echo >> '${directory}/loads'
${echo(load)};;
*) exit 2;;
esac
`
    await writeFile(join(directory, 'nvidia-smi'), script)
    await chmod(join(directory, 'nvidia-smi'), 0o755)
    await mkdir(join(directory, 'bin'))
    return `${directory}:/usr/bin:/bin`
  }
  /** The line of an H200 with driver 580: idle, or with 30 GiB used by another program. */
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

  test('report their load for the instances that hold them, and are asked at most once a second', async () => {
    // The lines that an H200 with driver 580 prints while a program computes on it, and while it is idle.
    const load = ['0, 100, 32371', '1, 0, 0', '2, [N/A], 512', '3, 7, [N/A]', 'x, 1, 1', '1', '']
    const path = await fakeSmi(
      [0, 1, 2, 3].map((index) => H100(index, 81_000)),
      '',
      load,
    )
    const { driver } = await open(
      {
        tiers: {
          busy: { gpu_count: 1, gpus: [0] },
          idle: { gpu_count: 1, gpus: [1] },
          odd: { gpu_count: 2, gpus: [2, 3] },
        },
      },
      path,
    )
    const [busy = '', idle = '', odd = ''] = await Promise.all(
      ['busy', 'idle', 'odd'].map((tierId) => launchReady({ tierId })),
    )
    let nowMs = 0
    const sampler = stage.createDriver(fakeClock(() => nowMs))
    const sample = async () => [...((await sampler.sampleGpus?.([busy, idle, odd, '../../etc'])) ?? [])]
    expect(await sample()).toEqual([
      [busy, { utilization: 1, memoryUsedGb: 32_371 / 1024 }],
      [idle, { utilization: 0, memoryUsedGb: 0 }],
    ])
    await driver.stop(busy)
    await stage.settle()
    // The stop ends the engine in the background.
    await eventually(async () => expect((await sample()).map(([id]) => id)).toEqual([idle]))
    const countQueries = async () => (await readFile(join(path.split(':')[0] ?? '', 'loads'))).length
    expect(await countQueries()).toBe(1)
    nowMs += 1_000
    await sample()
    expect(await countQueries()).toBe(2)
  })

  test('report one load for all GPUs of an instance, and none if instances may share a GPU', async () => {
    const path = await fakeSmi(
      [0, 1, 2].map((index) => H100(index, 81_000)),
      '',
      ['0, 100, 32371', '1, 0, 0', '2, 50, 1024'],
    )
    const { driver } = await open(
      {
        tiers: {
          pair: { gpu_count: 2, gpus: [0, 1] },
          shared: { gpu_count: 1, gpus: [2], shared_by: 2, memory_gb: 40 },
          same: { gpu_count: 1, gpus: [2] },
        },
      },
      path,
    )
    const [pair = '', same = ''] = await Promise.all(
      ['pair', 'same'].map((tierId) => launchReady({ tierId })),
    )
    const shared = await launchReady({ tierId: 'shared' })
    expect([...((await driver.sampleGpus?.([pair, same, shared])) ?? [])]).toEqual([
      [pair, { utilization: 0.5, memoryUsedGb: 32_371 / 1024 }],
    ])
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

  test('the GPUs of this machine of a real machine are detected, and offered while enough of their memory is free', async () => {
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
