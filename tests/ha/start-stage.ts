import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { modelEntry } from '../chat/start-chat-gateway.ts'
import { BUNDLED_PROGRAM } from '../support/bundle-program.ts'
import { startBalancer } from './balancer.ts'
import { layNetwork, type Machine, type Network } from './lay-network.ts'
import { MODEL } from './messages.ts'
import { startLoad, startVendor, type Load } from './start-load.ts'
import { startPatroni, type PatroniCluster } from './start-patroni.ts'

/** Two gateways behind a balancer, three PostgreSQL, a vendor and its clients, each on a machine of its own. */
export interface Stage {
  readonly network: Network
  readonly cluster: PatroniCluster
  readonly gateways: readonly Gateway[]
  readonly load: Load
  readonly accountId: string
  /** Replaces a gateway by one of another program, as an upgrade does: SIGTERM, then the new one. */
  replaceGateway(gateway: Gateway, main?: string): Promise<void>
  untilReady(): Promise<void>
  /** Lets the name of the primary lead to the one that is the primary now. */
  followPrimary(): Promise<void>
  close(): Promise<void>
}

interface Gateway {
  readonly machine: Machine
  process: ChildProcess
  /** How it ended by itself, each time. */
  readonly exits: unknown[]
}

export interface StageOptions {
  /** The main file of the gateways. Default: the bundle of the source. */
  readonly main?: string
  /** The gateways know the primary by this name only, as that of a managed database. */
  readonly primaryName?: string
}

const KEY = 'pk-dev-FleetFleetFleetFleetFleetFleetFleetFleet'
const CREDIT_USD = 100_000
const READY_MS_MAX = 180_000
const POLL_MS = 200
/** Between `/readyz` failing and the end: longer than the balancer needs to notice. */
const SHUTDOWN_DELAY_MS = 2_500
const NO_LIMITS = {
  tiers: [
    {
      name: 'all',
      balance_usd: 0,
      requests_per_minute: null,
      tokens_per_minute: null,
      concurrent_requests: null,
      spend_usd_per_minute: null,
    },
  ],
}

export async function startStage(options: StageOptions = {}): Promise<Stage> {
  const network = await layNetwork()
  try {
    return await buildStage(network, options)
  } catch (error) {
    await network.close()
    throw error
  }
}

async function buildStage(
  network: Network,
  { main = BUNDLED_PROGRAM, primaryName }: StageOptions,
): Promise<Stage> {
  const cluster = await startPatroni(network)
  const vendor = await network.addMachine('vendor')
  const clients = await network.addMachine('clients')
  const balancer = await network.addMachine('balancer')
  const machines = [await network.addMachine('gateway1'), await network.addMachine('gateway2')]
  const answered = startVendor(vendor)
  const url = startBalancer(network, balancer, machines)
  const settings = settingsOf(network, { databaseUrl: cluster.urlOf(primaryName), vendor })
  const followPrimary = async () => {
    const { address } = await cluster.primary()
    if (primaryName !== undefined)
      for (const machine of machines) await machine.nameHost(primaryName, address)
  }
  await followPrimary()
  const start = (machine: Machine, program: string) =>
    machine.start(process.execPath, ['--min-semi-space-size=16', program, 'serve'], {
      environment: { ...settings, PARKWAY_DATA_DIR: join(network.directory, machine.name) },
    })
  const gateways: Gateway[] = machines.map((machine) => watch(machine, start(machine, main)))

  let key = ''
  const load = startLoad(clients, { url, key: () => key, answered })
  const untilReady = () => untilAllReady(load, machines)
  await untilReady()
  const create = async (path: string, body: object) => {
    const created = await load.ask({ method: 'POST', url: url + path, key: KEY, body })
    if (created.status !== 201) throw new Error(`${path}: ${created.status} ${JSON.stringify(created.body)}`)
    return created.body
  }
  const account = await create('/v1/admin/accounts', { name: 'Ada', credit_usd: CREDIT_USD })
  ;({ key } = await create(`/v1/admin/accounts/${account.id}/api-keys`, { scopes: ['inference'] }))
  return {
    network,
    cluster,
    gateways,
    load,
    accountId: account.id,
    untilReady,
    followPrimary,
    replaceGateway: async (gateway, program = BUNDLED_PROGRAM) => {
      const ended = once(gateway.process, 'exit')
      gateway.process.kill('SIGTERM')
      const [code] = await ended
      if (code !== 0) gateway.exits.push(code)
      gateway.process = start(gateway.machine, program)
      await untilReady()
    },
    close: () => network.close(),
  }
}

function watch(machine: Machine, program: ChildProcess): Gateway {
  const exits: unknown[] = []
  return { machine, process: program, exits }
}

function settingsOf(
  { directory }: Network,
  { databaseUrl, vendor }: { databaseUrl: string; vendor: Machine },
): Record<string, string> {
  const catalog = join(directory, 'catalog.json')
  writeFileSync(
    catalog,
    JSON.stringify({ models: [modelEntry(MODEL, [{ provider: 'openai', model: MODEL }])] }),
  )
  return {
    DATABASE_URL: databaseUrl,
    HOST: '0.0.0.0',
    PORT: '8080',
    OPENAI_API_KEY: 'sk-upstream',
    OPENAI_BASE_URL: `http://${vendor.address}:8080/v1`,
    PARKWAY_CATALOG_FILE: catalog,
    PARKWAY_BOOTSTRAP_KEY: KEY,
    PARKWAY_SEALING_KEY: 'of the suite',
    PARKWAY_LIMITS: JSON.stringify(NO_LIMITS),
    PARKWAY_DATABASE_POOL_SIZE: '5',
    PARKWAY_SHUTDOWN_DELAY_MS: String(SHUTDOWN_DELAY_MS),
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    LOG_LEVEL: 'warn',
  }
}

async function untilAllReady(load: Load, machines: readonly Machine[]): Promise<void> {
  const deadlineMs = performance.now() + READY_MS_MAX
  for (;;) {
    const states = await Promise.all(
      machines.map(({ address }) =>
        load.ask({ method: 'GET', url: `http://${address}:8080/readyz`, key: null }),
      ),
    )
    if (states.every(({ status }) => status === 200)) return
    if (performance.now() > deadlineMs) throw new Error(`the gateways stay ${JSON.stringify(states)}`)
    await delay(POLL_MS)
  }
}

/** The lines of the log of a gateway that report a defect. */
export function readDefects({ directory }: Network, { machine }: Gateway): string[] {
  return readFileSync(join(directory, `${machine.name}.log`), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{') && /"level":("error"|50|60|"fatal")/.test(line))
}
