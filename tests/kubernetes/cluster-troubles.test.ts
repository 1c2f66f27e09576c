import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fakeClock } from '../../src/kernel/testing/fake-clock.ts'
import { eventually } from '../support/eventually.ts'
import { read, write } from '../upstreams/cluster/cluster-store.ts'
import { createKubernetesStage, type KubernetesStage } from './kubernetes-stage.ts'

let stage: KubernetesStage

beforeEach(async () => {
  stage = await createKubernetesStage()
})
afterEach(() => stage.close())

const ready = async (id: string) => {
  expect((await stage.driver.observe(id)).state).toBe('ready')
}
/** Launches an instance and waits until it is ready and the watches have received it. */
const launchReady = async () => {
  const order = stage.order()
  await stage.driver.launch(order)
  await stage.settle()
  return order.instanceId
}
/** Observes an instance many times and checks that hardly any request reaches the cluster. */
const expectWatched = async (id: string) => {
  const before = stage.cluster.requests.length
  for (let looks = 0; looks < 50; looks += 1) await ready(id)
  expect(stage.cluster.requests.length - before).toBeLessThan(5)
}
const podName = () => String(read(stage.cluster.store.list('pods')[0], 'metadata', 'name'))
const asked = (pattern: RegExp) => stage.cluster.requests.filter((line) => pattern.test(line)).length

describe('a cluster', () => {
  test('is watched, and not queried for each observation', async () => {
    const id = await launchReady()
    await eventually(() => expect(asked(/GET .*pods\?watch/)).toBe(1))
    await expectWatched(id)
  })

  test('is watched again after the watches were cut', async () => {
    const id = await launchReady()
    const lists = asked(/GET .*\/pods$/)
    stage.cluster.cutWatches()
    await stage.driver.stop(id)
    await stage.settle()
    expect((await stage.driver.observe(id)).state).toBe('gone')
    await eventually(() => expect(asked(/GET .*pods\?watch/)).toBeGreaterThan(1))
    expect(lists).toBeGreaterThan(0)
  })

  test('is listed again if it no longer has the version of a watch', async () => {
    const id = await launchReady()
    await eventually(() => expect(asked(/GET .*deployments\?watch/)).toBe(1))
    stage.cluster.refuse({ matching: /\?watch/, times: 4, status: 503, reason: 'ServiceUnavailable' })
    stage.cluster.cutWatches()
    // The pod is replaced while there is no watch, and the server drops its old events.
    stage.cluster.store.delete('pods', podName())
    stage.cluster.nodes.settle()
    stage.cluster.store.compact()
    await eventually(async () => {
      expect(asked(/GET .*pods\?watch/)).toBeGreaterThan(3)
      await ready(id)
    })
    expect(stage.cluster.store.list('pods')).toHaveLength(1)
    await eventually(() => expectWatched(id))
  })

  test('is called again after retry-after if it returns 429', async () => {
    stage.cluster.refuse({
      matching: /PATCH .*services/,
      times: 2,
      status: 429,
      reason: 'TooManyRequests',
      retryAfter: '0.01',
    })
    await ready(await launchReady())
    expect(asked(/PATCH .*services/)).toBe(3)
  })

  test.each([
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [500, 'InternalError'],
  ])(
    'makes a launch fail with the reason if it returns %i, and a second launch completes it',
    async (status, reason) => {
      const order = stage.order()
      stage.cluster.refuse({ matching: /PATCH .*services/, times: 1, status, reason })
      await expect(stage.driver.launch(order)).rejects.toThrow(`Kubernetes answered ${status} ${reason}`)
      stage.cluster.nodes.settle()
      expect(stage.cluster.store.list('pods')).toEqual([])
      await stage.driver.launch(order)
      await stage.settle()
      await ready(order.instanceId)
    },
  )

  test('causes an error if it fails, and the instance is not reported as gone', async () => {
    const id = await launchReady()
    stage.cluster.refuse({ matching: /./, times: 1_000, status: 500, reason: 'InternalError' })
    stage.cluster.cutWatches()
    await eventually(() => expect(stage.driver.observe(id)).rejects.toThrow('Kubernetes answered 500'))
    expect(stage.problems).toContain('a watch of the cluster was interrupted')
  })
})

describe('an instance in a cluster', () => {
  test('has its token only in a Secret, which is deleted when it is stopped', async () => {
    const order = stage.order({ hubToken: 'hf_secret' })
    await stage.driver.launch(order)
    const { store } = stage.cluster
    expect(JSON.stringify(store.list('secrets'))).toContain(Buffer.from('hf_secret').toString('base64'))
    expect(JSON.stringify([store.list('deployments'), store.list('services')])).not.toContain('hf_secret')
    await stage.driver.stop(order.instanceId)
    expect([store.list('secrets'), store.list('services')]).toEqual([[], []])
  })

  test('does not start if it is stopped while another process launches it', async () => {
    const order = stage.order()
    stage.cluster.refuse({ matching: /PATCH .*services/, times: 1, status: 500, reason: 'InternalError' })
    await stage.driver.launch(order).catch(() => {})
    const stale = stage.cluster.store.get('deployments', `parkway-${order.instanceId}`)
    await stage.driver.stop(order.instanceId)
    // The launch that began before the stop sets the replicas as its last step.
    const raised = structuredClone(stale ?? {})
    write(raised, ['spec', 'replicas'], 1)
    const path = `/apis/apps/v1/namespaces/engines/deployments/parkway-${order.instanceId}`
    await expect(
      stage.api.apply(path, raised, { manager: 'parkway', isForced: false }),
    ).rejects.toMatchObject({ status: 409 })
    await stage.driver.launch(order)
    await stage.settle()
    expect((await stage.driver.observe(order.instanceId)).state).toBe('gone')
  })

  test('fails without a restart if it runs out of memory after it was ready', async () => {
    const id = await launchReady()
    stage.cluster.nodes.crash(podName(), { reason: 'OOMKilled', exitCode: 137 })
    await eventually(async () => {
      expect((await stage.driver.observe(id)).failure?.code).toBe('out_of_memory')
    })
  })

  test('is loading again after its first crash', async () => {
    const id = await launchReady()
    stage.cluster.nodes.crash(podName(), { reason: 'Error', exitCode: 1 })
    await eventually(async () => {
      expect((await stage.driver.observe(id)).state).toBe('loading')
    })
  })

  test('gets another pod after an eviction, and can end while the old pod object still exists', async () => {
    const id = await launchReady()
    stage.cluster.nodes.evict(podName())
    stage.cluster.nodes.settle()
    await eventually(() => expect(stage.cluster.store.list('pods')).toHaveLength(2))
    await eventually(() => ready(id))
    await stage.driver.stop(id)
    await stage.settle()
    expect((await stage.driver.observe(id)).state).toBe('gone')
    expect(stage.cluster.store.list('pods')).toHaveLength(1)
  })

  test('fails without a pod, Service or Secret if its order has unsafe values, which are written nowhere', async () => {
    const order = stage.order({ huggingfaceId: 'acme/tiny"\n--x', hubToken: 'hf_secret' })
    await stage.driver.launch(order)
    await stage.settle()
    expect((await stage.driver.observe(order.instanceId)).failure?.code).toBe('model_unsupported')
    const { store } = stage.cluster
    expect([store.list('pods'), store.list('services'), store.list('secrets')]).toEqual([[], [], []])
    expect(JSON.stringify(store.list('deployments'))).not.toContain('--x')
  })

  test('causes no API request if its id is invalid', async () => {
    const before = stage.cluster.requests.length
    await expect(stage.driver.launch(stage.order({ instanceId: '../secrets/x' }))).rejects.toThrow(
      'not the id',
    )
    await stage.driver.stop('../secrets/x')
    expect((await stage.driver.observe('../secrets/x')).state).toBe('gone')
    expect(stage.cluster.requests.length).toBe(before)
  })

  test('is released at the end of its grace period at the latest, even if the gateway checks days later', async () => {
    let aheadMs = 0
    const clock = fakeClock(() => Date.now() + aheadMs)
    const driver = await stage.createDriver(clock)
    const id = await launchReady()
    await driver.stop(id)
    await stage.settle()
    aheadMs = 3 * 86_400_000
    const { state, releasedAtMs } = await driver.observe(id)
    expect(state).toBe('gone')
    expect(clock.nowMs() - (releasedAtMs ?? 0)).toBeGreaterThan(2 * 86_400_000)
  })

  test('is bound between its launch and now, even if the clock of the cluster is wrong', async () => {
    const id = await launchReady()
    stage.cluster.store.update('pods', podName(), (value) => {
      const past = { status: 'True', lastTransitionTime: '2001-01-01T00:00:00Z' }
      write(
        value,
        ['status', 'conditions'],
        [
          { ...past, type: 'PodScheduled' },
          { ...past, type: 'Ready' },
        ],
      )
    })
    await eventually(async () => {
      const { boundAtMs } = await stage.driver.observe(id)
      expect(Date.now() - (boundAtMs ?? 0)).toBeLessThan(600_000)
    })
  })

  test('is forgotten one hour after its end, and not before', async () => {
    let aheadMs = 0
    const clock = fakeClock(() => Date.now() + aheadMs)
    const driver = await stage.createDriver(clock)
    const id = await launchReady()
    await driver.stop(id)
    await stage.settle()
    await driver.sweep(async () => new Set())
    expect(stage.cluster.store.list('deployments')).toHaveLength(1)
    aheadMs = 3_700_000
    expect(await driver.sweep(async () => new Set())).toEqual([])
    expect(stage.cluster.store.list('deployments')).toEqual([])
  })
})
