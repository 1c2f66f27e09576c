import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { sep } from 'node:path'
import type { SystemUser } from '../../kernel/system-user.ts'
import { findProgram, resolveFile } from './find-program.ts'

/** The sandbox program of this machine, or why there is none. */
export type FoundSandbox =
  | { readonly program: string; readonly problem: null }
  | { readonly program: null; readonly problem: string }

const PROGRAM = 'bwrap'
const PROBE_MS_MAX = 10_000
const PROBLEM_CHARACTERS_MAX = 200

/** Own processes, users, names and semaphores. The network is shared, because engines listen on the loopback address. */
const NAMESPACES = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-cgroup-try',
]
const SYSTEM = ['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev']

/** Looks for bubblewrap, and tries it as the user of engines: many kernels and containers refuse what it needs. */
export async function findSandbox(searchPath: string, user: SystemUser | null): Promise<FoundSandbox> {
  const program = await findProgram(PROGRAM, searchPath)
  if (program === null) return { program, problem: `${PROGRAM} is not installed` }
  const failure = await new Promise<string | null>((resolve) => {
    execFile(
      program,
      [...NAMESPACES, ...SYSTEM, '--', program, '--version'],
      { timeout: PROBE_MS_MAX, cwd: '/', env: {}, ...user },
      (error, _stdout, stderr) => resolve(error === null ? null : stderr.trim() || error.message),
    )
  })
  if (failure === null) return { program, problem: null }
  return { program: null, problem: failure.slice(0, PROBLEM_CHARACTERS_MAX) }
}

interface SandboxPaths {
  /** The working directory of the engine, which it may write. */
  readonly work: string
  /** Directories for temporary files. In the sandbox they are the working directory. */
  readonly temporary: readonly string[]
  /** Directories that the engine does not see. */
  readonly hidden: readonly string[]
  /** Paths that it reads although they are in hidden directories. */
  readonly readable: readonly string[]
  /** Other directories that it may write. */
  readonly writable: readonly string[]
  readonly devices: readonly string[]
}

/** Writes the command that runs another one in a sandbox. All paths exist and have no symbolic links. */
export function writeSandboxCommand(
  program: string,
  { work, temporary, hidden, readable, writable, devices }: SandboxPaths,
  argv: readonly string[],
): string[] {
  const isHidden = (path: string) => [...hidden, ...temporary].some((directory) => isWithin(path, directory))
  return [
    program,
    ...NAMESPACES,
    ...SYSTEM,
    ...devices.flatMap((path) => ['--dev-bind-try', path, path]),
    ...temporary.flatMap((path) => ['--bind', work, path]),
    ...hidden.flatMap((path) => ['--tmpfs', path]),
    ...readable.filter(isHidden).flatMap((path) => ['--ro-bind', path, path]),
    ...[work, ...writable].flatMap((path) => ['--bind', path, path]),
    ...hidden.flatMap((path) => ['--remount-ro', path]),
    '--chdir',
    work,
    '--',
    ...argv,
  ]
}

const TEMPORARY = ['/tmp', '/var/tmp']
/** Sockets of other programs, such as a container engine, are there. */
const SOCKETS = '/run'
/** A link into `/run` on systems with systemd-resolved. */
const RESOLVER = '/etc/resolv.conf'
const DEVICES = /^(?:nvidia.*|dri|kfd|infiniband)$/

interface ListOptions {
  readonly work: string
  /** Private directories of the gateway. */
  readonly privatePaths: readonly string[]
  /** Home directory of the gateway's user. It stays visible if a file of the command is there. */
  readonly home: string | null
  readonly commandFiles: readonly string[]
  /** Paths of models and what the operator allows. Missing ones are left out. */
  readonly readable: readonly string[]
  readonly writable: readonly string[]
}

/** Finds out which paths of this machine an engine sees. */
export async function listSandboxPaths(options: ListOptions): Promise<SandboxPaths> {
  const { work, privatePaths, commandFiles } = options
  const home = options.home === null ? null : await resolveFile(options.home)
  const hasProgram = (directory: string) => commandFiles.some((path) => isWithin(path, directory))
  const homes = home === null || home === '/' || hasProgram(home) ? [] : [home]
  const hidden = [...new Set(await resolveAll([...privatePaths, SOCKETS, ...homes]))]
  const devices = await readdir('/dev').catch(() => [])
  return {
    work,
    temporary: await resolveAll(TEMPORARY),
    hidden: hidden.filter((path) => !hidden.some((other) => other !== path && isWithin(path, other))),
    readable: await resolveAll([...commandFiles, ...options.readable, RESOLVER]),
    writable: await resolveAll(options.writable),
    devices: devices.filter((name) => DEVICES.test(name)).map((name) => `/dev/${name}`),
  }
}

async function resolveAll(paths: readonly string[]): Promise<string[]> {
  return (await Promise.all(paths.map(resolveFile))).filter((path) => path !== null)
}

function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
}
