import { parseArgs } from 'node:util'

export interface BenchOptions {
  readonly rounds: number
  /** How long a contestant is under load at each concurrency in a round. */
  readonly secondsPerRound: number
  readonly heldStreamsMax: number
  readonly scenarioIds: readonly string[]
  readonly only: readonly string[]
  readonly skip: readonly string[]
  /** The checkout of another commit, measured beside this one. */
  readonly before: string | undefined
  readonly jsonPath: string | undefined
  readonly soakMs: number
  readonly isGrowth: boolean
  /** Whether PostgreSQL shares the gateway's core, as on a machine with one core. */
  readonly isOneCore: boolean
  readonly isProfile: boolean
  readonly isQuick: boolean
  readonly isCheck: boolean
  readonly mayInstall: boolean
}

export const usage = `npm run bench -- [flags]
  --quick               about a minute, for a first look
  --rounds N            rounds a scenario (20; 8 with --growth)
  --seconds S           seconds a contestant is measured at concurrency 64 in a round (1)
  --only a,b            these contestants: parkway, parkway-free, bare, floor, nginx, portkey, litellm
  --skip a,b            all but these
  --before DIR          the gateway of another checkout beside this one, as the contestant before
  --scenario a,b        these scenarios: requests, streams, stream-costs, wires, embeddings, tasks, media, credit, and deployments, command-line, client-proxy, console, fairness, budgets, batches, files, overload
  --soak 10m            the gateway alone at full load for that long; is its memory flat?
  --growth              the gateway with more accounts, usage rows and processes; is its cost a request flat?
  --one-core            the gateway's PostgreSQL on the gateway's core, instead of on the other
  --profile             the gateway alone under --cpu-prof; where does the time go?
  --json FILE           every sample, for a later look
  --check               exit 1 when a target is missed
  --no-install          use what is there, install no peer
`

export function parseBenchOptions(argv: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string', default: '' },
      skip: { type: 'string', default: '' },
      before: { type: 'string' },
      scenario: { type: 'string', default: '' },
      soak: { type: 'string', default: '0s' },
      growth: { type: 'boolean', default: false },
      'one-core': { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      json: { type: 'string' },
      check: { type: 'boolean', default: false },
      'no-install': { type: 'boolean', default: false },
    },
  })
  return {
    rounds: parseNumber('--rounds', values.rounds ?? chooseRounds(values), 1, 1000),
    secondsPerRound: parseNumber('--seconds', values.seconds ?? (values.quick ? '0.5' : '1'), 0.2, 60),
    heldStreamsMax: values.quick ? 1024 : 4096,
    scenarioIds: parseList(values.scenario),
    only: parseList(values.only),
    skip: parseList(values.skip),
    before: values.before,
    jsonPath: values.json,
    soakMs: parseDurationMs(values.soak),
    isGrowth: values.growth,
    isOneCore: values['one-core'],
    isProfile: values.profile,
    isQuick: values.quick,
    isCheck: values.check,
    mayInstall: !values['no-install'] && !values.quick,
  }
}

/** The growth scenario takes longer to prepare than to measure, so it runs fewer rounds. */
function chooseRounds({ quick, growth }: { quick: boolean; growth: boolean }): string {
  if (quick) return '3'
  return growth ? '8' : '20'
}

function parseList(text: string): string[] {
  return text.split(',').filter((item) => item !== '')
}

function parseNumber(flag: string, text: string, min: number, max: number): number {
  const value = Number(text)
  if (!(value >= min && value <= max)) throw new Error(`${flag} takes a number from ${min} to ${max}`)
  return value
}

function parseDurationMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text)
  const unitMs = { s: 1000, m: 60_000, h: 3_600_000 }[match?.[2] ?? '']
  if (match === null || unitMs === undefined) throw new Error('--soak takes a duration such as 90s or 10m')
  return Number(match[1]) * unitMs
}
