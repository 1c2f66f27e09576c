import { basename, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { InstanceFailure } from '../gpu-driver.ts'
import { BoundedLog } from './bounded-log.ts'
import { checkEngine, checkHealth } from './check-engine.ts'
import type { EnginePlan, EngineState } from './engine-plan.ts'
import { startEngine, type EngineProcess } from './engine-process.ts'
import { explainExit, type EngineExit } from './explain-exit.ts'
import { hasCode, openInstanceDirectory, type InstanceDirectory } from './instance-directory.ts'
import { endTree, findTree, identifyProcess, readOwnBytes } from './process-tree.ts'

const TICK_MS = 200
const READY_TICK_MS = 500
const MEMORY_LOOK_MS = 2_000
/** Minimum number of consecutive failed health checks before an engine counts as hung. */
const HANG_CHECKS_MIN = 3
const RESTARTS_MAX = 3
/** An engine that was ready for this long is healthy, and its restart count is reset. */
const WELL_MS = 600_000

/**
 * Runs the engine of one instance, in a separate process that outlives the gateway. It collects the engine's log, records when
 * the engine is ready, restarts it after a crash and kills its process tree at the end. If the keeper itself is killed, the
 * driver kills the engine at its next observation.
 */
class EngineKeeper {
  readonly #directory: InstanceDirectory
  readonly #plan: EnginePlan
  readonly #log: BoundedLog
  readonly #stopped = new AbortController()
  #state: EngineState

  constructor(directory: InstanceDirectory, plan: EnginePlan, state: EngineState) {
    this.#directory = directory
    this.#plan = plan
    this.#state = state
    this.#log = new BoundedLog(directory.pathOf(plan.instanceId))
  }

  stop(): void {
    this.#stopped.abort()
  }

  async run(): Promise<void> {
    await this.#write({})
    // A stop before the state was written reports the instance as gone, so start no engine.
    if (await this.#pause(0)) return this.#end(null)
    for (const note of this.#plan.notes) this.#log.line(note)
    let wasReady = false
    for (let restarts = 0; ; restarts += 1) {
      const exit = await this.#runOnce(wasReady)
      if (exit === null) return this.#end(null)
      const failure = explainExit(exit, this.#log.takeRecent())
      if (exit.readyMs > WELL_MS) restarts = 0
      wasReady ||= exit.wasReady
      if (!wasReady || restarts >= RESTARTS_MAX) return this.#end(failure)
      const pauseMs = this.#plan.restartMs * 2 ** restarts
      this.#log.line(`${failure.message} It is started again in ${pauseMs} ms.`)
      await this.#write({ phase: 'loading' })
      if (await this.#pause(pauseMs)) return this.#end(null)
    }
  }

  /** Runs the engine until its process tree has ended. Returns null if it was stopped on request. */
  async #runOnce(isRestart: boolean): Promise<(EngineExit & { readonly readyMs: number }) | null> {
    const plan = this.#plan
    this.#log.line(`${isRestart ? 'starting again' : 'starting'} ${plan.model}`)
    const engine = await startEngine(plan, this.#directory.pathOf(plan.instanceId), this.#log)
    await this.#write({ engine: engine.identity })
    const seen = await this.#follow(engine, isRestart)
    const { endedFor, readyMs } = seen
    const isWanted = engine.exit() === null && endedFor === null
    if (isWanted) await this.#write({ phase: 'stopping' })
    const graceMs = endedFor === 'memory' || endedFor === 'hang' ? 0 : plan.stopGraceMs
    while (!(await endTree(plan.instanceId, engine.identity, graceMs)))
      this.#log.line('the engine does not end; its GPU stays taken')
    if (isWanted) return null
    const exit = engine.exit() ?? { status: null, signal: 'SIGKILL', startProblem: null }
    return { ...exit, endedFor, wasReady: readyMs > 0, readyMs }
  }

  /** Returns when the engine exits, exceeds its memory, hangs, is not ready in time, or is stopped. */
  async #follow(engine: EngineProcess, isRestart: boolean) {
    const startedMs = performance.now()
    let readyAtMs: number | null = null
    let lookedMs = 0
    const check = this.#checkReadiness()
    const hasHung = this.#watchHealth()
    const seen = (endedFor: EngineExit['endedFor']) => ({
      readyMs: readyAtMs === null ? 0 : performance.now() - readyAtMs + 1,
      endedFor,
    })
    while (engine.exit() === null) {
      const nowMs = performance.now()
      if (nowMs - lookedMs > MEMORY_LOOK_MS) {
        lookedMs = nowMs
        if (await this.#tookTooMuch(engine)) return seen('memory')
      }
      if (readyAtMs === null && check()) {
        readyAtMs = nowMs
        this.#log.line('ready')
        await this.#write({ phase: 'ready' })
      }
      if (readyAtMs !== null && hasHung()) return seen('hang')
      if (readyAtMs === null && isRestart && nowMs - startedMs > this.#plan.restartMsMax) return seen('delay')
      if (await this.#pause(readyAtMs === null ? TICK_MS : READY_TICK_MS)) break
    }
    return seen(null)
  }

  /** Returns a function that polls the health of a ready engine and returns whether the engine has hung. */
  #watchHealth(): () => boolean {
    const { hangMs } = this.#plan
    let failures = 0
    let isAsking = false
    let answeredMs: number | null = null
    let askedMs = 0
    const note = (isHealthy: boolean) => {
      isAsking = false
      failures = isHealthy ? 0 : failures + 1
      if (isHealthy) answeredMs = performance.now()
    }
    return () => {
      const nowMs = performance.now()
      answeredMs ??= nowMs
      if (hangMs === 0) return false
      if (!isAsking && nowMs - askedMs >= hangMs / HANG_CHECKS_MIN) {
        isAsking = true
        askedMs = nowMs
        void checkHealth(this.#plan, this.#stopped.signal).then(note, () => note(false))
      }
      return failures >= HANG_CHECKS_MIN && nowMs - answeredMs >= hangMs
    }
  }

  /** Returns a function that polls the engine and returns whether it has become ready. A stop cancels the poll. */
  #checkReadiness(): () => boolean {
    let isReady = false
    let isAsking = false
    return () => {
      if (isReady || isAsking) return isReady
      isAsking = true
      void checkEngine(this.#plan, this.#stopped.signal)
        .catch(() => false)
        .then((hasAnswered) => {
          isReady = hasAnswered
          isAsking = false
        })
      return false
    }
  }

  async #tookTooMuch({ identity }: EngineProcess): Promise<boolean> {
    const { ramBytesMax, instanceId } = this.#plan
    if (ramBytesMax === null) return false
    const bytes = await readOwnBytes(await findTree(instanceId, identity))
    if (bytes <= ramBytesMax) return false
    this.#log.line(`the engine takes ${bytes} bytes of memory; its tier allows ${ramBytesMax}`)
    return true
  }

  /** Waits. Returns true if the instance was stopped or its directory was removed. */
  async #pause(forMs: number): Promise<boolean> {
    const untilMs = performance.now() + forMs
    const { signal } = this.#stopped
    for (;;) {
      const leftMs = untilMs - performance.now()
      await wait(Math.max(0, Math.min(TICK_MS, leftMs)), undefined, { signal }).catch(() => {})
      const { instanceId } = this.#plan
      if (await this.#directory.isStopRequested(instanceId)) this.stop()
      if ((await this.#directory.readOrderedAtMs(instanceId)) === null) this.stop()
      if (signal.aborted || performance.now() >= untilMs) return signal.aborted
    }
  }

  async #end(failure: InstanceFailure | null): Promise<void> {
    const { instanceId, placeNames, clockAheadMs } = this.#plan
    this.#log.line(failure === null ? 'stopped' : `failed: ${failure.message}`)
    await this.#write({ phase: 'ended', failure, releasedAtMs: Date.now() + clockAheadMs })
    for (const name of placeNames) await this.#directory.release(name, instanceId)
  }

  async #write(change: Partial<EngineState>): Promise<void> {
    this.#state = { ...this.#state, ...change }
    try {
      await this.#directory.writeState(this.#plan.instanceId, this.#state)
    } catch (error) {
      // The directory was removed. The next pause detects that and stops the engine.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
}

const path = resolve(process.argv[2] ?? '')
const directory = openInstanceDirectory(resolve(path, '..', '..'))
const plan = await directory.readPlan(basename(path))
if (plan === null) throw new Error('there is no plan for an engine')
// The driver has already declared this keeper dead.
if ((await directory.readState(plan.instanceId)) !== null) process.exit(0)
const keeper = new EngineKeeper(directory, plan, {
  phase: 'loading',
  keeper: await identifyProcess(process.pid),
  engine: null,
  boundAtMs: plan.boundAtMs,
  releasedAtMs: null,
  failure: null,
})
process.on('SIGTERM', () => keeper.stop())
process.on('SIGHUP', () => {})
try {
  await keeper.run()
} finally {
  // Kill the engine also if a write failed, for example on a full disk.
  await endTree(plan.instanceId, null, 0)
}
process.exit(0)
