import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import type { Fault } from './faults.ts'
import { findFakeClock } from './find-obstacles.ts'
import type { Machine } from './lay-network.ts'
import type { PatroniCluster } from './start-patroni.ts'

const FULL_MS = 20_000
const SERVED_MS = 6_000
const SKEW = '+5m'

/** The disk of the primary is full until somebody makes room. */
export const FULL_DISK: Fault = {
  name: 'disk of the primary full',
  strike: async ({ cluster }) => {
    const primary = await cluster.primary()
    const waste = join(cluster.diskOf(primary), 'waste')
    // Fails when the disk is full, which is what it is for.
    await primary.run('dd', ['if=/dev/zero', `of=${waste}`, 'bs=64k']).catch(() => {})
    try {
      await delay(FULL_MS)
    } finally {
      await primary.run('rm', ['-f', waste])
    }
  },
}

/** A server whose clock is five minutes ahead becomes the primary, and then one whose clock is right. */
export const WRONG_CLOCK: Fault = {
  name: 'clock of the primary 5 minutes ahead, then right again',
  strike: async ({ cluster }) => {
    const library = findFakeClock()
    if (library === null) throw new Error('libfaketime is missing')
    const ahead = {
      LD_PRELOAD: library,
      FAKETIME: SKEW,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    }
    const first = await cluster.primary()
    const restart = async (except: Machine, environment?: Readonly<Record<string, string>>) => {
      for (const node of cluster.nodes.filter(({ name }) => name !== except.name)) {
        await node.stopAll()
        cluster.startNode(node, environment)
        await cluster.untilWhole()
      }
    }
    await restart(first, ahead)
    await switchOver(cluster)
    await cluster.untilWhole()
    await delay(SERVED_MS)
    const second = await cluster.primary()
    await restart(second)
    await switchOver(cluster)
    await cluster.untilWhole()
    await second.stopAll()
    cluster.startNode(second)
  },
}

/** Resolves when another node is the primary. */
async function switchOver(cluster: PatroniCluster): Promise<void> {
  const primary = await cluster.primary()
  await cluster.control(['switchover', '--force', '--master', primary.name])
  for (let now: string | null = primary.name; now === null || now === primary.name;) {
    await delay(250)
    now = (await cluster.readState()).leader
  }
}

/** The name that the gateways know leads to another server a moment after the failover. */
export const NAME_MOVES: Fault = {
  name: 'the only name of the primary leads to another server after a switchover',
  strike: async (stage) => {
    await switchOver(stage.cluster)
    await delay(2_000)
    await stage.followPrimary()
  },
}
