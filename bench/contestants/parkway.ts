import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Contestant } from './contestant.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const programOf = (checkout: string) => join(checkout, 'src/app/main.ts')
const key = 'pk-live-benchmark0benchmark0benchmark0benchmark0benchmark0'
/** More than a run can spend, and enough for the highest limits that depend on a balance. */
const CREDIT_USD = '5000000'

export const parkway: Contestant = createParkway({ id: 'parkway', environment: {} })

/** The gateway without holds, charges and limits. The difference to `parkway` is their cost. */
export const parkwayFree: Contestant = createParkway({
  id: 'parkway-free',
  environment: { PARKWAY_BILLING: 'off' },
})

/** Creates a gateway with default settings, except for those given. For scenarios that compare settings. */
export function createParkway({
  id,
  environment = {},
  flags = [],
  checkout = root,
}: {
  id: string
  environment?: Readonly<Record<string, string>>
  /** Flags of `serve`. */
  flags?: readonly string[]
  /** The checkout of another commit, with its packages installed. */
  checkout?: string
}): Contestant {
  const program = programOf(checkout)
  return {
    id,
    prepare: async ({ port, upstreamPort, directory, nodeFlags }) => {
      if (!existsSync(program)) return { unavailable: `${program} does not exist` }
      const dataDirectory = join(directory, 'data')
      return {
        version: `${checkout === root ? 'this checkout' : 'the other checkout'}, Node ${process.versions.node}`,
        command: process.execPath,
        arguments: [...startFlags(), ...nodeFlags, program, 'serve', ...flags],
        workingDirectory: checkout,
        environment: { ...environmentOf({ port, upstreamPort, dataDirectory }), ...environment },
        requestHeaders: { authorization: `Bearer ${key}` },
        readyPath: '/readyz',
        startTimeoutMs: 30_000,
        ledger: { dataDirectory, checkout, isCharging: environment['PARKWAY_BILLING'] !== 'off' },
      }
    },
  }
}

/** Describes a further process of a running gateway. It works on tasks and answers no requests. */
export function describeWorker(setting: {
  readonly port: number
  readonly upstreamPort: number
  readonly dataDirectory: string
  readonly connectionString: string
}) {
  return {
    command: process.execPath,
    arguments: [programOf(root), 'serve', '--role', 'worker'],
    workingDirectory: root,
    environment: { ...environmentOf(setting), DATABASE_URL: setting.connectionString },
  }
}

function environmentOf({
  port,
  upstreamPort,
  dataDirectory,
}: {
  port: number
  upstreamPort: number
  dataDirectory: string
}): Record<string, string> {
  return {
    PORT: String(port),
    HOST: '127.0.0.1',
    PARKWAY_DATA_DIR: dataDirectory,
    PARKWAY_BOOTSTRAP_KEY: key,
    PARKWAY_BOOTSTRAP_CREDIT_USD: CREDIT_USD,
    OPENAI_API_KEY: 'sk-mock',
    OPENAI_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
    ANTHROPIC_API_KEY: 'sk-mock',
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
  }
}

/** Returns the runtime flags of `npm start`. */
export function startFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return String(scripts.start).match(/--[\w-]+=\d+/g) ?? []
}
