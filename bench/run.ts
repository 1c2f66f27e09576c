/** The benchmark. `npm run bench -- --help` lists its flags; bench/README.md explains the output. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseBenchOptions, usage } from './bench-options.ts'
import type { BenchOptions } from './bench-options.ts'
import { checkLedger } from './check-ledger.ts'
import { contestants } from './contestants.ts'
import { createParkway } from './contestants/parkway.ts'
import { describeConditions } from './describe-conditions.ts'
import { formatTable, formatVerdicts } from './format-table.ts'
import { startLoadGenerator } from './load/load-generator.ts'
import { measureDurableWriteUs } from './measure-durable-write.ts'
import { profileContestants } from './profile-contestants.ts'
import { startContestant, startMockUpstream } from './running-contestant.ts'
import type { RunningContestant } from './running-contestant.ts'
import { furtherScenarios, scenarios } from './scenarios.ts'
import { growth } from './scenarios/growth.ts'
import type { BenchSession, Scenario, ScenarioReport, Verdict } from './scenarios/scenario.ts'
import { soak } from './scenarios/soak.ts'
import { readOwnCpuMicroseconds, stopAllProcesses } from './start-process.ts'
import { watchMachine } from './watch-machine.ts'

const INTERRUPTED = 130
const SLOW_TO_START = new Set(['litellm'])
const note = (text: string) => void process.stderr.write(`${text}\n`)

if (process.argv.includes('--help')) process.stdout.write(usage)
else process.exit(await runBenchmark().catch(describeFailure))

function describeFailure(error: unknown): number {
  note(error instanceof Error ? error.message : String(error))
  return 1
}

async function runBenchmark(): Promise<number> {
  const options = parseBenchOptions(process.argv.slice(2))
  const directory = mkdtempSync(join(tmpdir(), 'parkway-bench-'))
  // A database server that drops root privileges must be able to reach its directory in here.
  chmodSync(directory, 0o755)
  const interrupted = Promise.withResolvers<number>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      note('stopping')
      interrupted.resolve(INTERRUPTED)
    })
  }
  // The output was closed. Stop the started processes all the same.
  for (const output of [process.stdout, process.stderr])
    output.on('error', () => interrupted.resolve(INTERRUPTED))
  const measured = measureAll(options, directory)
  // After an interruption the measurement fails because its processes are gone. Ignore that error.
  measured.catch(() => undefined)
  try {
    return await Promise.race([measured, interrupted.promise])
  } finally {
    await stopAllProcesses()
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function measureAll(options: BenchOptions, directory: string): Promise<number> {
  const chosen = chooseScenarios(options)
  const direct = await startMockUpstream({ directory })
  if (options.isProfile) return profileContestants({ options, direct, directory, note })
  const running = await startContestants({ options, chosen, direct, directory })
  const session: BenchSession = {
    direct,
    contestants: running,
    load: startLoadGenerator({ directory }),
    options,
    note,
  }
  const durableWriteUsBefore = measureDurableWriteUs(directory)
  const readNoise = watchMachine(readOwnCpuMicroseconds)
  const reports = new Map(await runScenarios(chosen, session))
  const all = [...reports.values()]
  const conditions = describeConditions({
    options,
    contestants: running,
    noise: readNoise(),
    durableWriteUs: [durableWriteUsBefore, measureDurableWriteUs(directory)],
  })
  const verdicts = [...all.flatMap((report) => report.verdicts), ...(await checkLedgers(session, all))]
  const rows = all.flatMap((report) => report.rows)
  const columns = [...running, direct]
    .map(({ id }) => id)
    .filter((id) => rows.some(({ cells }) => id in cells))
  const table = formatTable(columns, rows)
  process.stdout.write(`\n${conditions}\n\n${table}\n\n${formatVerdicts(verdicts)}\n`)
  if (options.jsonPath !== undefined) {
    const scenarioSamples = Object.fromEntries([...reports].map(([id, report]) => [id, report.samples]))
    writeFileSync(
      options.jsonPath,
      JSON.stringify({ conditions, verdicts, scenarios: scenarioSamples }, null, 2),
    )
  }
  return options.isCheck && (verdicts.length === 0 || verdicts.some(({ isMet }) => isMet === false)) ? 1 : 0
}

async function checkLedgers(
  { contestants: running, load }: BenchSession,
  reports: readonly ScenarioReport[],
): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const contestant of running) {
    const given = reports.map(({ usageRowsBefore }) => usageRowsBefore?.get(contestant.id) ?? 0)
    const rowsBefore = given.reduce((total, rows) => total + rows, 0)
    verdicts.push(
      ...(await checkLedger({ contestant, traffic: load.trafficOf(contestant.port), rowsBefore })),
    )
  }
  return verdicts
}

function chooseScenarios({ scenarioIds, soakMs, isGrowth }: BenchOptions): readonly Scenario[] {
  if (soakMs > 0) return [soak]
  if (isGrowth) return [growth]
  if (scenarioIds.length === 0) return scenarios
  return scenarioIds.map((wanted) => {
    const scenario = [...scenarios, ...furtherScenarios].find(({ id }) => id === wanted)
    if (scenario === undefined) throw new Error(`there is no scenario ${wanted}`)
    return scenario
  })
}

async function startContestants({
  options,
  chosen,
  direct,
  directory,
}: {
  options: BenchOptions
  chosen: readonly Scenario[]
  direct: RunningContestant
  directory: string
}): Promise<RunningContestant[]> {
  const known = [...new Set(chosen.flatMap((scenario) => scenario.contestants ?? contestants))]
  if (options.before !== undefined)
    known.push(createParkway({ id: 'before', checkout: resolve(options.before) }))
  const unknown = [...options.only, ...options.skip].filter((id) =>
    known.every((contestant) => contestant.id !== id),
  )
  if (unknown.length > 0) throw new Error(`there is no contestant ${unknown.join(', ')}`)
  const wanted = known.filter(({ id }) => isWanted(options, id))
  const running: RunningContestant[] = []
  for (const contestant of wanted) {
    const { mayInstall } = options
    const started = await startContestant({
      contestant,
      upstreamPort: direct.port,
      directory,
      mayInstall,
      nodeFlags: [],
      databaseCore: options.isOneCore ? 'contestant' : 'harness',
      note,
    })
    if (started !== undefined) running.push(started)
  }
  return running
}

function isWanted({ only, skip, soakMs, isQuick }: BenchOptions, id: string): boolean {
  if (only.length > 0) return only.includes(id) || id === 'before'
  if (soakMs > 0) return id === 'parkway'
  return !skip.includes(id) && !(isQuick && SLOW_TO_START.has(id))
}

async function runScenarios(chosen: readonly Scenario[], session: BenchSession) {
  const reports = []
  for (const scenario of chosen) reports.push([scenario.id, await scenario.run(session)] as const)
  return reports
}
