import { spawn } from 'node:child_process'
import { lchown, mkdir, writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import type { BoundedLog } from './bounded-log.ts'
import type { EnginePlan, ProcessIdentity } from './engine-plan.ts'
import { workPathOf } from './instance-directory.ts'
import { identifyProcess, MARK } from './process-tree.ts'

/** A started engine. */
export interface EngineProcess {
  /** Null if the engine could not be started or ended immediately. */
  readonly identity: ProcessIdentity | null
  /** Returns null while the engine runs. */
  exit(): ProcessExit | null
}

interface ProcessExit {
  readonly status: number | null
  readonly signal: string | null
  readonly startProblem: string | null
}

/** Makes the kernel's OOM killer choose an engine before the gateway. */
const OOM_SCORE = '500'

/**
 * Starts the engine in its own session. Its working directory is a separate one without model files, so that a model id is not
 * taken for a relative path.
 */
export async function startEngine(
  plan: EnginePlan,
  directory: string,
  log: BoundedLog,
): Promise<EngineProcess> {
  const cwd = workPathOf(directory)
  await mkdir(cwd, { recursive: true, mode: 0o700 })
  if (plan.user !== undefined) await lchown(cwd, plan.user.uid, plan.user.gid)
  const [program = '', ...args] = plan.argv
  let exit: ProcessExit | null = null
  const child = spawn(program, args, {
    cwd,
    env: { ...plan.environment, [MARK]: plan.instanceId },
    ...plan.user,
    detached: true,
    shell: false,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => log.write(text))
    stream.on('error', () => {})
  }
  child.on('error', (error: NodeJS.ErrnoException) => {
    exit ??= { status: null, signal: null, startProblem: `${program}: ${error.code ?? error.message}` }
  })
  // Wait for `close`, when all output has been read. A child process may hold the output open, so the wait is limited.
  child.on('exit', (status, signal) => {
    const inner = plan.isSandboxed === true ? signalOf(status) : null
    const settle = () => {
      exit ??= { status, signal: signal ?? inner, startProblem: null }
    }
    child.on('close', settle)
    setTimeout(settle, OUTPUT_MS_MAX)
  })
  const { pid } = child
  const identity = pid === undefined ? null : await identifyProcess(pid)
  if (pid !== undefined) await writeFile(`/proc/${pid}/oom_score_adj`, OOM_SCORE).catch(() => {})
  return { identity, exit: () => exit }
}

const OUTPUT_MS_MAX = 1_000
/** As shells do, a sandbox reports an engine that was ended by a signal with this plus the number of the signal. */
const SIGNALLED = 128

function signalOf(status: number | null): string | null {
  const number = (status ?? 0) - SIGNALLED
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null
}
