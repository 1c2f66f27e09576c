import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchOptions } from './bench-options.ts'
import { buildChatBody, buildEmbeddingBody, buildRequest } from './build-request.ts'
import { contestants } from './contestants.ts'
import { formatCount } from './format-figure.ts'
import { startLoadGenerator } from './load/load-generator.ts'
import { startContestant } from './running-contestant.ts'
import type { RunningContestant } from './running-contestant.ts'
import { summariseProfile } from './summarise-profile.ts'

const WARMUP_MS = 3000
const MEASURED_MS = 10_000
const CHUNKS_OF_STREAM = 16

/** Runs the selected Node contestants one by one under V8's sampling profiler. */
export async function profileContestants({
  options,
  direct,
  directory,
  note,
}: {
  options: BenchOptions
  direct: RunningContestant
  directory: string
  note: (text: string) => void
}): Promise<number> {
  const load = startLoadGenerator({ directory })
  const wanted = options.only.length === 0 ? ['parkway'] : options.only
  const isStreamed = chunksOf(options) !== null
  for (const contestant of contestants.filter(({ id }) => wanted.includes(id))) {
    const profileDirectory = join(directory, `${contestant.id}-profile`)
    const nodeFlags = ['--cpu-prof', '--cpu-prof-interval=500', `--cpu-prof-dir=${profileDirectory}`]
    const running = await startContestant({
      contestant,
      upstreamPort: direct.port,
      directory,
      mayInstall: options.mayInstall,
      nodeFlags,
      databaseCore: options.isOneCore ? 'contestant' : 'harness',
      note,
    })
    if (running === undefined) return 1
    const job = {
      port: running.port,
      request: buildRequest({ headers: running.requestHeaders, ...chooseRequest(options) }),
      concurrency: 64,
    }
    await load.runExchanges({ ...job, warmupMs: 0, durationMs: WARMUP_MS })
    const fromMicroseconds = monotonicMicroseconds()
    const result = await load.runExchanges({ ...job, warmupMs: 0, durationMs: MEASURED_MS })
    const untilMicroseconds = monotonicMicroseconds()
    await running.process.stop()
    process.stdout.write(
      `\n${contestant.id} under the profiler: ${formatCount(result.exchangesPerSecond)} ${isStreamed ? 'streams' : 'requests'}/s\n\n`,
    )
    const profiles = readdirSync(profileDirectory).filter((name) => name.endsWith('.cpuprofile'))
    if (profiles.length === 0) throw new Error('no profile was written: did the contestant exit cleanly?')
    for (const name of profiles) {
      const path = join(profileDirectory, name)
      process.stdout.write(`${summariseProfile({ path, fromMicroseconds, untilMicroseconds })}\n`)
    }
  }
  return 0
}

/** Chooses the request of the selected scenario. */
function chooseRequest({ scenarioIds }: Pick<BenchOptions, 'scenarioIds'>): { path: string; body: object } {
  if (scenarioIds.includes('embeddings')) return { path: '/v1/embeddings', body: buildEmbeddingBody('float') }
  const chunks = chunksOf({ scenarioIds })
  const stream = chunks === null ? undefined : { chunks, chunksPerSecond: 0 }
  return { path: '/v1/chat/completions', body: buildChatBody(stream) }
}

/** How many chunks the streams of the selected scenario have. Null if its answers are complete. */
function chunksOf({ scenarioIds }: Pick<BenchOptions, 'scenarioIds'>): number | null {
  if (scenarioIds.includes('stream-costs')) return 1
  return scenarioIds.includes('streams') ? CHUNKS_OF_STREAM : null
}

/** The clock of V8's profiles. */
function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n)
}
