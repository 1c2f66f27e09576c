import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { basename } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Script {
  readonly process: ChildProcess
  /** Reads the next line of the script and parses it as JSON. */
  read(): Promise<Record<string, unknown>>
  write(line: string): void
  /** Closes stdin of the script and waits until it has exited by itself. */
  finish(): Promise<void>
  kill(): Promise<void>
}

/** Runs a script in its own process, optionally as another user. */
export function spawnScript(
  script: URL,
  args: string[],
  user: { uid: number; gid: number } | null = null,
): Script {
  const name = basename(script.pathname)
  const child = spawn(process.execPath, [fileURLToPath(script), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...user,
  })
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    process: child,
    async read() {
      const { value } = await lines.next()
      if (typeof value !== 'string') throw new Error(`${name} ended without an answer`)
      const answer: unknown = JSON.parse(value)
      if (typeof answer !== 'object' || answer === null) throw new Error(`${name} wrote ${value}`)
      return { ...answer }
    },
    write: (line) => void child.stdin.write(`${line}\n`),
    async finish() {
      child.stdin.end()
      await exited
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
