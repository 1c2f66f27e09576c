import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { homeEnvironment, type Home } from './run-parkway.ts'

interface ShellOptions {
  readonly directory: string
  readonly variables?: Record<string, string>
  /** Called with what is printed. */
  readonly onOutput?: (text: string) => void
}

/** Runs a program with the commands of a home in its path. */
export function runInShell(
  home: Home,
  [program, ...words]: readonly [string, ...string[]],
  { directory, variables = {}, onOutput }: ShellOptions,
): Promise<{ code: number | null; stderr: string }> {
  return new Promise((done, fail) => {
    const own = homeEnvironment(home)
    const env = {
      ...own,
      PATH: `${join(home.directory, 'bin')}:${own.PATH}`,
      SHELL: '/bin/bash',
      ...variables,
    }
    const child = spawn(program, words, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let stderr = ''
    child.stdout.on('data', (part: Buffer) => onOutput?.(part.toString()))
    child.stderr.on('data', (part: Buffer) => (stderr += part.toString()))
    child.on('error', fail)
    child.on('close', (code) => done({ code, stderr }))
  })
}
