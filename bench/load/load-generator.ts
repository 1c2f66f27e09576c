import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StartedProcess } from '../start-process.ts'
import { startProcess } from '../start-process.ts'
import type {
  ExchangeJob,
  ExchangeResult,
  HeldStreamsJob,
  HeldStreamsResult,
  LoadJob,
  OpenLoopJob,
  OpenLoopResult,
  TasksJob,
  TasksResult,
  Traffic,
} from './load-job.ts'

/** The load generator as a scenario uses it. The work is done in another process. */
export interface LoadGenerator {
  readonly process: StartedProcess
  runExchanges(job: Omit<ExchangeJob, 'kind'>): Promise<ExchangeResult>
  runHeldStreams(job: Omit<HeldStreamsJob, 'kind'>): Promise<HeldStreamsResult>
  runTasks(job: Omit<TasksJob, 'kind'>): Promise<TasksResult>
  runOpenLoop(job: Omit<OpenLoopJob, 'kind'>): Promise<OpenLoopResult>
  /** All traffic to a port since the start. */
  trafficOf(port: number): Traffic
}

const ANSWER_MARGIN_MS = 20_000

export function startLoadGenerator({ directory }: { directory: string }): LoadGenerator {
  const started = startProcess({
    name: 'load-generator',
    core: 'harness',
    command: process.execPath,
    arguments: [fileURLToPath(new URL('load-generator-process.ts', import.meta.url))],
    directory: join(directory, 'load-generator'),
    hasChannel: true,
  })
  const trafficByPort = new Map<number, Traffic>()
  const trafficOf = (port: number) => trafficByPort.get(port) ?? NO_TRAFFIC
  const run = async <Result extends Traffic>(job: LoadJob): Promise<Result> => {
    const result = await askProcess<Result>(started, job)
    const before = trafficOf(job.port)
    trafficByPort.set(job.port, {
      answers: before.answers + result.answers,
      cutOff: before.cutOff + result.cutOff,
      cutOffWithin: before.cutOffWithin + result.cutOffWithin,
    })
    return result
  }
  return {
    process: started,
    runExchanges: async (job) => run<ExchangeResult>({ kind: 'exchanges', ...job }),
    runHeldStreams: async (job) => run<HeldStreamsResult>({ kind: 'held-streams', ...job }),
    runTasks: async (job) => run<TasksResult>({ kind: 'tasks', ...job }),
    runOpenLoop: async (job) => run<OpenLoopResult>({ kind: 'open-loop', ...job }),
    trafficOf,
  }
}

export const NO_TRAFFIC: Traffic = { answers: 0, cutOff: 0, cutOffWithin: 0 }

async function askProcess<Result>({ child }: StartedProcess, job: LoadJob): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const jobMs = job.kind === 'held-streams' ? job.rampMs + job.windowMs : job.warmupMs + job.durationMs
  const timer = setTimeout(
    () => reject(new Error('the load generator does not answer')),
    jobMs + ANSWER_MARGIN_MS,
  )
  const onExit = () => reject(new Error('the load generator has ended'))
  const onMessage = (message: { result: Result } | { error: string }) =>
    'result' in message ? resolve(message.result) : reject(new Error(message.error))
  child.once('exit', onExit)
  child.once('message', onMessage)
  child.send(job)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    child.off('exit', onExit)
    child.off('message', onMessage)
  }
}
