import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { placePreparedCluster } from '../../src/storage/testing/prepared-cluster.ts'
import { BUNDLED_PROGRAM } from '../support/bundle-program.ts'

/** What an operator starts. Other tests start its bundle, which is quicker. */
export const SOURCE_PROGRAM = fileURLToPath(new URL('../../src/app/main.ts', import.meta.url))

/** As `npm start` does: without it the start alone collects garbage for a tenth of its time. */
const NODE_OPTIONS = ['--min-semi-space-size=16']

/** Variables for Node, not for the gateway: the path of commands and the compile cache. */
const NODE_ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
}

export interface StartOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** The main file of the source or of another release. Default: the bundle of the source. */
  readonly main?: string
  /** Command line options of Node. */
  readonly nodeOptions?: readonly string[]
  /** The limit of open files, set with `ulimit -n`. */
  readonly openFilesMax?: number
  /** Starts the program in its own process group, like a terminal. */
  readonly isGroup?: boolean
}

export interface Workplace {
  readonly directory: string
  readonly dataDir: string
  path(name: string): string
  write(name: string, content: string): string
  /** Gives the data directory a migrated, empty database, so that the first start has to make none. */
  prepareDatabase(): Promise<void>
  /** Starts the program like an operator, in this directory and without the environment variables of the test run. */
  start(words: readonly string[], options?: StartOptions): Program
  /** Runs a command and waits until it has exited. */
  run(words: readonly string[], options?: StartOptions): Promise<Finished>
  /** Kills all programs that are still running and removes the directory. */
  clean(): Promise<void>
}

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Creates a temporary directory in which gateways run as real processes. */
export function createWorkplace(): Workplace {
  const directory = mkdtempSync(join(tmpdir(), 'parkway-app-'))
  const dataDir = join(directory, 'data')
  const programs: Program[] = []
  const path = (name: string) => join(directory, name)

  const start: Workplace['start'] = (
    words,
    { environment = {}, main = BUNDLED_PROGRAM, nodeOptions = [], openFilesMax, isGroup = false } = {},
  ) => {
    const [command = '', ...rest] = [
      ...limitFiles(openFilesMax),
      process.execPath,
      ...NODE_OPTIONS,
      ...nodeOptions,
      main,
      ...words,
    ]
    const child = spawn(command, rest, {
      cwd: directory,
      env: { ...NODE_ENVIRONMENT, ...sealingKeyFor(environment), PORT: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: isGroup,
    })
    const program = new Program(child)
    programs.push(program)
    return program
  }

  return {
    directory,
    dataDir,
    path,
    start,
    write: (name, content) => {
      writeFileSync(path(name), content)
      return path(name)
    },
    prepareDatabase: () => placePreparedCluster(dataDir),
    run: async (words, options) => {
      const program = start(words, options)
      const { code } = await program.exited
      return { code, stdout: program.stdout, stderr: program.stderr }
    },
    clean: async () => {
      for (const program of programs) program.kill('SIGKILL')
      await Promise.all(programs.map(({ exited }) => exited))
      const serverPid = readServerPid(dataDir)
      if (serverPid !== null) signal(serverPid, 'SIGQUIT')
      rmSync(directory, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 })
    },
  }
}

/** One run of the program. */
export class Program {
  readonly exited: Promise<{ code: number | null; signal: string | null }>
  readonly #child: ChildProcess
  readonly #waiting = new Set<() => void>()
  stdout = ''
  stderr = ''

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
      for (const look of this.#waiting) look()
    })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
      for (const look of this.#waiting) look()
    })
    this.exited = once(child, 'close').then(([code, signal]) => {
      for (const look of this.#waiting) look()
      return { code, signal }
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Waits until `find` returns a value for the output so far; rejects if the program exits before that. */
  async waitForOutput<Found>(find: (output: string) => Found | null | undefined): Promise<Found> {
    return new Promise((resolve, reject) => {
      const look = () => {
        // The log is behind what is printed for people, so that its last line may be incomplete.
        const found = find(this.stderr + this.stdout)
        if (found === null || found === undefined) {
          if (this.isRunning) return
          reject(new Error(`the program ended early:\n${this.stdout}\n${this.stderr}`))
        } else {
          resolve(found)
        }
        this.#waiting.delete(look)
      }
      this.#waiting.add(look)
      look()
    })
  }

  /** Waits until the program is ready. Returns its URL, and the key if it printed one. */
  async ready(): Promise<{ url: string; key: string | null; curl: string }> {
    const announcement = await this.waitForOutput(
      (text) => /Base URL[^]*First request:\n\n.*\n/.exec(text)?.[0],
    )
    return {
      url: /Base URL +(\S+)\/v1/.exec(announcement)?.[1] ?? '',
      key: /API key +(pk-\S+)/.exec(announcement)?.[1] ?? null,
      curl: /^ *(curl .*)$/m.exec(announcement)?.[1] ?? '',
    }
  }

  /** The JSON lines of the log so far, without warnings about a blocked event loop, which depend on the machine. */
  get log(): Record<string, unknown>[] {
    return readLog(this.stdout)
  }

  /** Waits for the first matching line of the log and returns it. */
  async waitForLog(find: (entry: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    return this.waitForOutput((text) => readLog(text).find(find))
  }

  kill(name: NodeJS.Signals): void {
    if (this.isRunning) this.#child.kill(name)
  }

  /** Sends a signal to the whole process group, like Ctrl-C in a terminal. */
  killGroup(name: NodeJS.Signals): void {
    process.kill(-this.pid, name)
  }
}

/** Gateways of several workplaces may share the database of a test. */
function sealingKeyFor(environment: Readonly<Record<string, string>>): Record<string, string> {
  return environment['DATABASE_URL'] === undefined ? {} : { PARKWAY_SEALING_KEY: 'of the tests' }
}

function limitFiles(openFilesMax?: number): string[] {
  return openFilesMax === undefined ? [] : ['sh', '-c', 'ulimit -n "$0" && exec "$@"', String(openFilesMax)]
}

function readLog(text: string): Record<string, unknown>[] {
  const lines = text.split('\n').slice(0, -1)
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => ({ ...JSON.parse(line) }))
    .filter(({ msg }) => msg !== 'the event loop stood still')
}

/** Reads the pid of the embedded server from its pid file; returns null if it is not running. */
export function readServerPid(dataDir: string): number | null {
  try {
    const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n', 1)[0])
    return isAlive(pid) ? pid : null
  } catch {
    return null
  }
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie process has exited; its parent has not read the exit code yet.
    if (process.platform === 'linux') return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already exited.
  }
}
