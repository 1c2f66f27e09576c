import { fork, type ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface HostedRun {
  readonly words: readonly string[]
  readonly stdin: string
  readonly environment: Readonly<Record<string, string>>
  readonly directory: string
  /** Kills a command that does not end by itself. */
  readonly msMax: number | undefined
}

/** What the process sends: a part of what a command writes, in base64, or its end. */
export interface HostMessage {
  readonly stdout?: string
  readonly stderr?: string
  readonly code?: number
}

const SCRIPT = resolve(import.meta.dirname, 'host-program.ts')

/** Processes that wait for a command, for all files that this process tests. */
const idle: ChildProcess[] = []

/**
 * Runs the commands of a home in processes that run one command after the other. To start Node and to load the program takes longer
 * than most commands, and the tests run more than a thousand.
 */
export class CommandHosts {
  readonly #busy = new Set<ChildProcess>()

  run(command: HostedRun): Promise<Ended> {
    const child = idle.pop() ?? startHost()
    this.#busy.add(child)
    hold(child)
    const { msMax } = command
    const timer = msMax === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), msMax)
    return new Promise((done) => {
      const stdout: Buffer[] = []
      const stderr: Buffer[] = []
      const end = (code: number | null): void => {
        clearTimeout(timer)
        this.#busy.delete(child)
        child.off('exit', end).off('message', onMessage)
        done({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() })
      }
      const onMessage = (message: HostMessage): void => {
        if (message.stdout !== undefined) stdout.push(Buffer.from(message.stdout, 'base64'))
        if (message.stderr !== undefined) stderr.push(Buffer.from(message.stderr, 'base64'))
        if (message.code === undefined) return
        end(message.code)
        release(child)
        idle.push(child)
      }
      child.on('exit', end).on('message', onMessage)
      child.send(command)
    })
  }

  /** Kills the commands that still run. */
  stop(): void {
    for (const child of this.#busy) child.kill('SIGKILL')
  }
}

function startHost(): ChildProcess {
  const child = fork(SCRIPT, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  child.on('exit', () => {
    const index = idle.indexOf(child)
    if (index !== -1) idle.splice(index, 1)
  })
  return child
}

/** A host that waits must not keep this process alive; it ends with it. */
function release(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}

function hold(child: ChildProcess): void {
  child.ref()
  child.channel?.ref()
}
