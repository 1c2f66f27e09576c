import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BoundedLog } from './bounded-log.ts'
import type { EnginePlan, ProcessIdentity } from './engine-plan.ts'
import { identifyProcess, MARK } from './process-tree.ts'

/** An engine that was started. */
export interface EngineProcess {
  /** Null where it could not be started, or has ended at once. */
  readonly identity: ProcessIdentity | null
  /** Null while it runs. */
  exit(): ProcessExit | null
}

interface ProcessExit {
  readonly status: number | null
  readonly signal: string | null
  readonly startProblem: string | null
}

/** Where memory runs out, the system ends an engine before the gateway. */
const OOM_SCORE = '500'

/** In a session of its own and an empty directory, so that no model's id is a path there. */
export async function startEngine(
  plan: EnginePlan,
  directory: string,
  log: BoundedLog,
): Promise<EngineProcess> {
  const cwd = join(directory, 'work')
  await mkdir(cwd, { recursive: true, mode: 0o700 })
  const [program = '', ...args] = plan.argv
  let exit: ProcessExit | null = null
  const child = spawn(program, args, {
    cwd,
    env: { ...plan.environment, [MARK]: plan.instanceId },
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
  // What it wrote has been read by then, unless something that it started holds its output.
  child.on('exit', (status, signal) => {
    const settle = () => {
      exit ??= { status, signal, startProblem: null }
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
