import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { findPostgresDirectory } from './find-obstacles.ts'
import type { Machine, Network } from './lay-network.ts'

/** Three PostgreSQL under Patroni, whose state is in an etcd of three. */
export interface PatroniCluster {
  readonly nodes: readonly Machine[]
  readonly stores: readonly Machine[]
  /** As `DATABASE_URL` of a gateway names them, or only this host. */
  urlOf(host?: string): string
  readState(): Promise<ClusterState>
  /** Resolves when all three replicate again and one of them is the synchronous standby (or none has to be). */
  untilWhole(): Promise<ClusterState>
  primary(): Promise<Machine>
  startNode(node: Machine): void
  /** Runs `patronictl` on a machine that no fault is about. */
  control(words: readonly string[]): Promise<string>
  /** Connects to a node by its socket, also while its network is cut. */
  connect(node: Machine, database?: string): Database
  diskOf(node: Machine): string
}

interface ClusterState {
  readonly leader: string | null
  readonly standbys: readonly string[]
  readonly synchronous: string | null
  readonly isWhole: boolean
}

const SCOPE = 'fleet'
const DISK_MEGABYTES = 512
const WHOLE_MS_MAX = 240_000
const POLL_MS = 500
const PASSWORD = 'of-the-suite'

export async function startPatroni(network: Network): Promise<PatroniCluster> {
  const stores = await addMachines(network, ['store1', 'store2', 'store3'])
  const nodes = await addMachines(network, ['db1', 'db2', 'db3'])
  for (const store of stores) startStore(network, store, stores)
  const configOf = (node: Machine) => join(network.directory, `${node.name}.yml`)
  const diskOf = (node: Machine) => join(network.directory, 'disks', node.name)
  for (const node of nodes) {
    await network.addDisk(diskOf(node), DISK_MEGABYTES)
    await node.run('chown', ['postgres:postgres', diskOf(node)])
    await writeFile(configOf(node), JSON.stringify(configure(node, stores, diskOf(node))))
  }
  const [witness] = stores
  if (witness === undefined) throw new Error('no store')
  const startNode = (node: Machine): void =>
    void node.start('patroni', [configOf(node)], { user: 'postgres' })
  const readState = async () => readClusterState(await readKeys(stores))
  const cluster: PatroniCluster = {
    nodes,
    stores,
    urlOf: (host = nodes.map(({ address }) => address).join(',')) =>
      `postgres://parkway:${PASSWORD}@${host}/parkway?target_session_attrs=read-write`,
    readState,
    startNode,
    diskOf,
    untilWhole: () => untilWhole(readState),
    primary: async () => {
      const { leader } = await untilState(readState, ({ leader: name }) => name !== null)
      const found = nodes.find(({ name }) => name === leader)
      if (found === undefined) throw new Error(`${leader} is no node`)
      return found
    },
    control: (words) => witness.run('patronictl', ['-c', configOf(nodes[0] ?? witness), ...words]),
    connect: (node, database = 'parkway') =>
      connectDatabase({
        connectionString: `postgres://postgres@/${database}?host=${encodeURIComponent(diskOf(node))}`,
        poolSize: 2,
        statementTimeoutMs: 60_000,
      }),
  }
  for (const node of nodes) startNode(node)
  await cluster.untilWhole()
  const operator = cluster.connect(await cluster.primary(), 'postgres')
  await operator.query(`CREATE ROLE parkway LOGIN PASSWORD '${PASSWORD}'`)
  await operator.query('CREATE DATABASE parkway OWNER parkway')
  await operator.close()
  return cluster
}

async function addMachines(network: Network, names: readonly string[]): Promise<Machine[]> {
  const machines: Machine[] = []
  for (const name of names) machines.push(await network.addMachine(name))
  return machines
}

function startStore(network: Network, store: Machine, stores: readonly Machine[]): void {
  const client = `http://${store.address}:2379`
  const peer = `http://${store.address}:2380`
  store.start('etcd', [
    `--name=${store.name}`,
    `--data-dir=${join(network.directory, store.name)}`,
    `--listen-client-urls=${client},http://127.0.0.1:2379`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=${stores.map(({ name, address }) => `${name}=http://${address}:2380`).join(',')}`,
    '--heartbeat-interval=250',
    '--election-timeout=2500',
  ])
}

function configure(node: Machine, stores: readonly Machine[], disk: string): object {
  const superuser = { username: 'postgres', password: PASSWORD }
  const replication = { username: 'replicator', password: PASSWORD }
  return {
    scope: SCOPE,
    name: node.name,
    restapi: { listen: `${node.address}:8008`, connect_address: `${node.address}:8008` },
    etcd3: { hosts: stores.map(({ address }) => `${address}:2379`) },
    bootstrap: {
      dcs: {
        ttl: 20,
        loop_wait: 2,
        retry_timeout: 5,
        maximum_lag_on_failover: 1_048_576,
        // A server that does not start any more loses its place.
        primary_start_timeout: 20,
        synchronous_mode: true,
        synchronous_mode_strict: true,
        postgresql: { use_pg_rewind: true, use_slots: true, parameters: PARAMETERS },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      pg_hba: [
        'local all postgres peer map=suite',
        'host replication replicator 10.77.0.0/24 scram-sha-256',
        'host all all 10.77.0.0/24 scram-sha-256',
      ],
    },
    postgresql: {
      listen: `${node.address}:5432`,
      connect_address: `${node.address}:5432`,
      data_dir: join(disk, 'data'),
      bin_dir: findPostgresDirectory(),
      // By default all nodes of a machine share one in the home directory.
      pgpass: join(disk, 'pgpass'),
      authentication: { superuser, replication },
      // The suite is root and asks as the superuser of PostgreSQL.
      pg_ident: ['suite root postgres', 'suite postgres postgres'],
      parameters: { unix_socket_directories: disk },
    },
  }
}

const PARAMETERS = {
  shared_buffers: '32MB',
  max_connections: 80,
  max_wal_size: '128MB',
  wal_keep_size: '64MB',
  wal_log_hints: 'on',
  // A standby or primary that is cut off is noticed within seconds.
  wal_sender_timeout: '5s',
  wal_receiver_timeout: '5s',
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  tcp_user_timeout: '10s',
}

async function readKeys(stores: readonly Machine[]): Promise<Map<string, string>> {
  for (const store of stores)
    try {
      const words = ['get', '--prefix', `/service/${SCOPE}/`, '--write-out=json', '--command-timeout=3s']
      const { kvs = [] } = JSON.parse(await store.run('env', ['ETCDCTL_API=3', 'etcdctl', ...words]))
      const text = (encoded: string) => Buffer.from(encoded, 'base64').toString('utf8')
      return new Map(
        kvs.map(({ key, value }: { key: string; value: string }) => [
          text(key).replace(`/service/${SCOPE}/`, ''),
          text(value ?? ''),
        ]),
      )
    } catch {
      // Another one is asked.
    }
  return new Map()
}

function readClusterState(keys: ReadonlyMap<string, string>): ClusterState {
  const leader = keys.get('leader') ?? null
  const { synchronous_mode: isSynchronous } = JSON.parse(keys.get('config') ?? '{}')
  const synchronous = JSON.parse(keys.get('sync') ?? '{}')?.sync_standby ?? null
  const members = [...keys]
    .filter(([key]) => key.startsWith('members/'))
    .map(([key, value]) => ({ name: key.replace('members/', ''), ...JSON.parse(value) }))
  const timeline = members.find(({ name }) => name === leader)?.timeline
  const running = members.filter(
    (member) => member.state === 'running' && (member.timeline ?? timeline) === timeline,
  )
  const standbys = running.map(({ name }) => String(name)).filter((name) => name !== leader)
  const isWhole =
    running.length === 3 && standbys.length === 2 && (synchronous !== null || isSynchronous !== true)
  return { leader, standbys, synchronous, isWhole }
}

async function untilWhole(readState: () => Promise<ClusterState>): Promise<ClusterState> {
  return untilState(readState, ({ isWhole }) => isWhole)
}

async function untilState(
  readState: () => Promise<ClusterState>,
  isWanted: (state: ClusterState) => boolean,
): Promise<ClusterState> {
  const deadlineMs = performance.now() + WHOLE_MS_MAX
  for (;;) {
    const state = await readState()
    if (isWanted(state)) return state
    if (performance.now() > deadlineMs) throw new Error(`the cluster stays ${JSON.stringify(state)}`)
    await delay(POLL_MS)
  }
}
