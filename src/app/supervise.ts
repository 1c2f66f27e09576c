import { fork, type ChildProcess } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '../kernel/logger.ts'
import { mergeSnapshots, type MetricsSnapshot } from '../telemetry/metrics.ts'
import type { Config } from './config.ts'
import {
  isReadyMessage,
  isSnapshotMessage,
  isSnapshotRequest,
  type ProcessOrder,
} from './process-messages.ts'

const START_MS_MAX = 30_000
const RESTART_PAUSE_MS = 200
const RESTART_PAUSE_MS_MAX = 10_000
/** A process that lived this long crashed by accident; one that did not will crash again. */
const HEALTHY_MS = 10_000
const SNAPSHOT_MS_MAX = 1_000

interface SuperviseOptions {
  readonly config: Config
  readonly connectionString: string
  readonly logger: Logger
}

export interface SupervisedGateway {
  readonly url: string
  readonly bootstrapKey: string | null
  readonly failed: Promise<number>
  close(): Promise<void>
}

/** Runs one gateway a core on one port. A process that dies is replaced; the others do not notice. */
export async function startProcesses(options: SuperviseOptions): Promise<SupervisedGateway> {
  const { config, logger } = options
  const members = new Set<ChildProcess>()
  let isClosing = false

  const start = async (port: number) => {
    const child = fork(new URL('./main.ts', import.meta.url), ['serve-process'], {
      env: { ...process.env, DATABASE_URL: options.connectionString, PORT: String(port), HOST: config.host },
      execArgv: process.execArgv,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    members.add(child)
    const startedMs = performance.now()
    child.on('message', (message) => {
      if (isSnapshotRequest(message)) void answerSnapshot(child, message.requestId)
    })
    child.once('exit', (code, signal) => {
      members.delete(child)
      if (isClosing) return
      logger.error({ pid: child.pid, code, signal }, 'a process died and is replaced')
      void replace(performance.now() - startedMs)
    })
    return readiness(child)
  }

  const answerSnapshot = async (asker: ChildProcess, requestId: number) => {
    const snapshots = await Promise.all([...members].map((member) => snapshotOf(member)))
    const known = snapshots.filter((snapshot) => snapshot !== null)
    if (asker.connected)
      asker.send({
        order: 'metrics',
        requestId,
        exposition: await mergeSnapshots(known),
      } satisfies ProcessOrder)
  }

  const first = await start(config.port)
  const port = Number(new URL(first.url).port)
  let pauseMs = RESTART_PAUSE_MS
  const replace = async (livedMs: number) => {
    pauseMs = livedMs > HEALTHY_MS ? RESTART_PAUSE_MS : Math.min(pauseMs * 2, RESTART_PAUSE_MS_MAX)
    await wait(pauseMs)
    if (isClosing) return
    await start(port).catch((error: unknown) =>
      logger.error({ err: error }, 'a process could not be replaced yet'),
    )
  }
  await Promise.all(Array.from({ length: config.processes - 1 }, () => start(port)))

  return {
    url: first.url,
    bootstrapKey: first.bootstrapKey,
    failed: new Promise(() => {}),
    close: async () => {
      isClosing = true
      await Promise.all([...members].map((member) => stopMember(member, config.shutdownGraceMs)))
    },
  }
}

function readiness(child: ChildProcess): Promise<{ url: string; bootstrapKey: string | null }> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error('a process did not start in time'))
    }, START_MS_MAX)
    child.on('message', (message) => {
      if (!isReadyMessage(message)) return
      clearTimeout(timer)
      resolve(message)
    })
    child.once('exit', () => {
      clearTimeout(timer)
      reject(new Error('a process stopped while it was starting; its own message is above'))
    })
  })
}

let lastRequestId = 0

function snapshotOf(member: ChildProcess): Promise<MetricsSnapshot | null> {
  lastRequestId += 1
  const requestId = lastRequestId
  return new Promise((resolve) => {
    const finish = (snapshot: MetricsSnapshot | null) => {
      clearTimeout(timer)
      member.off('message', receive)
      resolve(snapshot)
    }
    const receive = (message: unknown) => {
      if (isSnapshotMessage(message) && message.requestId === requestId) finish(message.snapshot)
    }
    // A process that is busy or dying is left out rather than waited for.
    const timer = setTimeout(() => finish(null), SNAPSHOT_MS_MAX)
    member.on('message', receive)
    if (member.connected) member.send({ order: 'snapshot', requestId } satisfies ProcessOrder)
    else finish(null)
  })
}

async function stopMember(member: ChildProcess, graceMs: number): Promise<void> {
  if (member.exitCode !== null || member.signalCode !== null) return
  const exited = new Promise<void>((resolve) => {
    member.once('exit', () => resolve())
  })
  member.kill('SIGTERM')
  const timer = setTimeout(() => member.kill('SIGKILL'), graceMs + 10_000)
  await exited
  clearTimeout(timer)
}
