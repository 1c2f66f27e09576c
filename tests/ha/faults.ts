import { setTimeout as delay } from 'node:timers/promises'
import type { Machine } from './lay-network.ts'
import type { Stage } from './start-stage.ts'

export interface Fault {
  readonly name: string
  /** Breaks something, and mends it after a while as an operator or the world would. Nobody touches the gateways. */
  strike(stage: Stage, round: number): Promise<void>
}

/** Longer than Patroni needs to give the place of the primary to another. */
const LASTING_MS = 30_000
const SHORT_MS = 12_000

const primaryOf = ({ cluster }: Stage): Promise<Machine> => cluster.primary()

async function standbysOf(stage: Stage): Promise<Machine[]> {
  const { leader } = await stage.cluster.readState()
  return stage.cluster.nodes.filter(({ name }) => name !== leader)
}

/** Another primary than this one. */
async function untilMoved(stage: Stage, from: Machine, timeoutMs = LASTING_MS * 3): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs
  for (;;) {
    const { leader } = await stage.cluster.readState()
    if (leader !== null && leader !== from.name) return
    if (performance.now() > deadlineMs) throw new Error(`${from.name} stays the primary`)
    await delay(250)
  }
}

export const FAILOVERS: readonly Fault[] = [
  {
    name: 'primary killed (kill -9 of PostgreSQL and Patroni)',
    strike: async (stage) => {
      const primary = await primaryOf(stage)
      await primary.signalAll('SIGKILL')
      await untilMoved(stage, primary)
      stage.cluster.startNode(primary)
    },
  },
  {
    name: 'switchover by patronictl',
    strike: async (stage) => {
      const primary = await primaryOf(stage)
      await stage.cluster.control(['switchover', '--force', '--master', primary.name])
      await untilMoved(stage, primary)
    },
  },
  {
    name: 'primary frozen (SIGSTOP) until another took over',
    strike: async (stage) => {
      const primary = await primaryOf(stage)
      await primary.signalAll('SIGSTOP')
      try {
        await untilMoved(stage, primary)
        await delay(2_000)
      } finally {
        await primary.signalAll('SIGCONT')
      }
    },
  },
]

interface Partition {
  readonly name: string
  readonly ends: (stage: Stage, round: number) => Promise<{ at: Machine; from: readonly Machine[] }>
}

const PARTITIONS: readonly Partition[] = [
  {
    name: 'primary from etcd',
    ends: async (stage) => ({ at: await primaryOf(stage), from: stage.cluster.stores }),
  },
  {
    name: 'gateway from primary',
    ends: async (stage, round) => {
      const gateway = stage.gateways[round % stage.gateways.length]
      if (gateway === undefined) throw new Error('no gateway')
      return { at: gateway.machine, from: [await primaryOf(stage)] }
    },
  },
  {
    name: 'both gateways from primary',
    ends: async (stage) => ({
      at: await primaryOf(stage),
      from: stage.gateways.map(({ machine }) => machine),
    }),
  },
  {
    name: 'synchronous standby from primary',
    ends: async (stage) => {
      const { synchronous } = await stage.cluster.readState()
      const [first] = await standbysOf(stage)
      const standby = stage.cluster.nodes.find(({ name }) => name === synchronous) ?? first
      if (standby === undefined) throw new Error('no standby')
      return { at: standby, from: [await primaryOf(stage)] }
    },
  },
  {
    name: 'both standbys from primary',
    ends: async (stage) => ({ at: await primaryOf(stage), from: await standbysOf(stage) }),
  },
]

export const CUTS = [
  { cut: 'all', words: 'cut both ways' },
  { cut: 'arriving', words: 'cut one way' },
  { cut: 'some', words: 'loses 40 % of the packets' },
] as const

/** One fault for each pair of machines, all with this cut. */
export function partitionsBy({ cut, words }: (typeof CUTS)[number]): Fault[] {
  return PARTITIONS.map(({ name, ends }) => ({
    name: `${name}: ${words}`,
    strike: async (stage, round) => {
      const { at, from } = await ends(stage, round)
      await at.cutFrom(from, cut)
      try {
        await delay(name === 'primary from etcd' ? LASTING_MS : SHORT_MS)
      } finally {
        await at.heal()
      }
    },
  }))
}
