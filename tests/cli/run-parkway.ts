import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { CLIENT_COMMANDS } from '../../cli/client-commands.ts'
import type { TestGateway } from '../support/start-test-gateway.ts'
import { CommandHosts, type Ended, type HostedRun } from './command-host.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const PROGRAM = resolve(import.meta.dirname, '../../cli/main.ts')

/** A person's home with their profiles. */
export interface Home {
  /** Where commands run. */
  readonly directory: string
  readonly configDirectory: string
  /** Runs the program without a terminal until it ends. */
  run(words: readonly string[], options?: RunOptions): Promise<Ended>
  remove(): Promise<void>
}

interface RunOptions {
  readonly stdin?: string
  readonly environment?: Record<string, string>
  /** Called with the process, to send it signals. */
  readonly onStart?: (child: ChildProcess) => void
  readonly directory?: string
  /** Kills a command that does not end by itself. */
  readonly msMax?: number
}

export async function createHome(): Promise<Home> {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-home-'))
  const hosts = new CommandHosts()
  return {
    directory,
    configDirectory: join(directory, 'config', 'parkway'),
    run: (words, { stdin = '', environment = {}, onStart, directory: cwd = directory, msMax } = {}) => {
      const command = {
        words,
        stdin,
        environment: { ...homeEnvironment({ directory }), ...environment },
        directory: cwd,
        msMax,
      }
      return onStart === undefined && isClients(words) ? hosts.run(command) : spawnProgram(command, onStart)
    },
    remove: async () => {
      hosts.stop()
      await removeDirectory(directory)
    },
  }
}

/** The operator's commands are modules that run once in a process. */
function isClients([name = '', ...rest]: readonly string[]): boolean {
  const isOperatorsKey = name === 'keys' && rest.some((word) => /^--(account|config)/.test(word))
  return Object.hasOwn(CLIENT_COMMANDS, name) && !isOperatorsKey
}

function spawnProgram(
  { words, stdin, environment, directory, msMax }: HostedRun,
  onStart?: (child: ChildProcess) => void,
): Promise<Ended> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [PROGRAM, ...words], {
      cwd: directory,
      env: environment,
      timeout: msMax,
      killSignal: 'SIGKILL',
    })
    onStart?.(child)
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (part: Buffer) => (stdout += part.toString()))
    child.stderr.on('data', (part: Buffer) => (stderr += part.toString()))
    child.on('error', fail)
    child.on('close', (code) => done({ code, stdout, stderr }))
    // A program that needs no input may end before it is written.
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
  })
}

/** The environment of a person who has nothing but this home. */
export const homeEnvironment = ({ directory }: Pick<Home, 'directory'>): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: directory,
  XDG_CONFIG_HOME: join(directory, 'config'),
  XDG_STATE_HOME: join(directory, 'state'),
  // Shared, because compiling again in each test would take longer than the tests.
  XDG_CACHE_HOME: resolve(import.meta.dirname, '../../node_modules/.cache'),
})

/** Signs in to a gateway with its key. */
export const signIn = (
  home: Home,
  gateway: Pick<TestGateway, 'baseUrl' | 'key'>,
  words: readonly string[] = [],
) => home.run(['login', '--url', gateway.baseUrl, ...words], { stdin: gateway.key })
