import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import type { Fault } from './faults.ts'
import type { PatroniCluster } from './start-patroni.ts'

const FULL_MS = 20_000

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
