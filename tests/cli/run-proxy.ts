import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { homeEnvironment, type Home } from './run-parkway.ts'

const PROGRAM = resolve(import.meta.dirname, '../../cli/main.ts')

interface RunningProxy {
  readonly url: string
  readonly child: ChildProcess
  /** Resolves with the exit code and the signal. */
  readonly ended: Promise<unknown[]>
}

/** Proxies that are started as a person does, on free ports. */
interface Proxies {
  /** Waits until the proxy names its address. */
  start(home: Home, words?: readonly string[], environment?: Record<string, string>): Promise<RunningProxy>
  /** Ends all that still run. */
  end(): void
}

export function createProxies(): Proxies {
  const started: ChildProcess[] = []
  return {
    async start(home, words = [], environment = {}) {
      const child = spawn(process.execPath, [PROGRAM, 'proxy', '--port', '0', ...words], {
        env: { ...homeEnvironment(home), ...environment },
      })
      started.push(child)
      let printed = ''
      for await (const part of child.stdout) {
        printed += String(part)
        if (printed.endsWith('\n')) break
      }
      return { url: printed.trim(), child, ended: once(child, 'close') }
    },
    end() {
      for (const child of started.splice(0)) child.kill('SIGKILL')
    },
  }
}
