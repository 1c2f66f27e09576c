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

/**
 * A process that runs one command after the other. To start Node and to load the program takes longer than most commands, and the
 * tests run more than a thousand.
 */
export class CommandHost {
  #child: ChildProcess | null = null
  #isBusy = false

  get isFree(): boolean {
    return !this.#isBusy
  }

  async run(command: HostedRun): Promise<Ended> {
    this.#isBusy = true
    try {
      return await this.#send(command)
    } finally {
      this.#isBusy = false
    }
  }

  stop(): void {
    this.#child?.kill('SIGKILL')
  }

  #send(command: HostedRun): Promise<Ended> {
    const child = (this.#child ??= fork(SCRIPT, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }))
    const { msMax } = command
    const timer = msMax === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), msMax)
    return new Promise((done) => {
      const stdout: Buffer[] = []
      const stderr: Buffer[] = []
      const end = (code: number | null): void => {
        clearTimeout(timer)
        child.off('exit', onExit).off('message', onMessage)
        done({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() })
      }
      const onExit = (code: number | null): void => {
        this.#child = null
        end(code)
      }
      const onMessage = (message: HostMessage): void => {
        if (message.stdout !== undefined) stdout.push(Buffer.from(message.stdout, 'base64'))
        if (message.stderr !== undefined) stderr.push(Buffer.from(message.stderr, 'base64'))
        if (message.code !== undefined) end(message.code)
      }
      child.on('exit', onExit).on('message', onMessage)
      child.send(command)
    })
  }
}
