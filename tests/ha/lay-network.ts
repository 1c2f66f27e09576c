import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Machines on one switch. Each has its own network and nothing else of its own; none reaches the network of this machine. */
export interface Network {
  readonly directory: string
  addMachine(name: string): Promise<Machine>
  /** Puts a file system of this size, which is in memory, at a path below `directory`. */
  addDisk(path: string, megabytes: number): Promise<void>
  /** Ends all processes and removes everything. The same happens when this process dies. */
  close(): Promise<void>
}

export interface Machine {
  readonly name: string
  readonly address: string
  start(command: string, words: readonly string[], options?: StartOptions): ChildProcess
  /** Runs a command to its end and returns what it printed. */
  run(command: string, words: readonly string[]): Promise<string>
  /** Sends a signal to all processes of the machine. */
  signalAll(signal: NodeJS.Signals): Promise<void>
  /** Cuts the machine off from others until it is healed. */
  cutFrom(others: readonly Machine[], cut: Cut): Promise<void>
  heal(): Promise<void>
  /** Gives a name to an address, for this machine only. Call it before the first program starts, and again to change it. */
  nameHost(name: string, address: string): Promise<void>
}

/** `all` loses every packet, `arriving` only those of the others, `some` a share of them both ways. */
type Cut = 'all' | 'arriving' | 'some'

interface StartOptions {
  readonly user?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly isMessaging?: boolean
}

const call = promisify(execFile)
const RUN_MS_MAX = 60_000
const FIRST_ADDRESS = 11
const LOST_PERCENT = 40

export async function layNetwork(): Promise<Network> {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-ha-'))
  await chmod(directory, 0o755)
  const prefix = `pkha${process.pid}`
  const guard = spawn('sh', ['-c', SWEEP, prefix, directory, process.env['PARKWAY_HA_KEEP'] ?? ''], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  })
  const swept = once(guard, 'exit')
  const hub = `${prefix}-hub`
  await sh(`ip netns add ${hub}; ip -n ${hub} link add hub type bridge; ip -n ${hub} link set hub up`)
  const machines: Machine[] = []
  return {
    directory,
    addMachine: async (name) => {
      const space = `${prefix}-${name}`
      const address = `10.77.0.${FIRST_ADDRESS + machines.length}`
      await sh(`
        ip netns add ${space}
        ip -n ${hub} link add ${name} type veth peer name eth0 netns ${space}
        ip -n ${hub} link set ${name} master hub up
        ip -n ${space} address add ${address}/24 dev eth0
        ip -n ${space} link set lo up
        ip -n ${space} link set eth0 up`)
      const machine = createMachine({ name, space, address, directory })
      machines.push(machine)
      return machine
    },
    addDisk: async (path, megabytes) =>
      sh(`mkdir -p '${path}'; mount -t tmpfs -o size=${megabytes}m,mode=0755 parkway-ha '${path}'`),
    close: async () => {
      guard.stdin.end()
      await swept
    },
  }
}

async function sh(script: string): Promise<void> {
  await call('sh', ['-ec', script], { timeout: RUN_MS_MAX })
}

/** Waits until this process closes its end of the pipe or dies, and removes what it has made. */
const SWEEP = `
  trap '' INT TERM HUP
  cat > /dev/null
  for space in $(ip netns list | cut -d' ' -f1 | grep "^$0-"); do
    for round in 1 2 3; do ip netns pids "$space" | xargs -r kill -KILL 2> /dev/null; done
    ip netns delete "$space"
  done
  for disk in $(awk -v directory="$1/" '$1 == "parkway-ha" && index($2, directory) == 1 { print $2 }' /proc/mounts); do
    umount --lazy "$disk"
  done
  rm -rf /etc/netns/"$0"-*
  [ -n "$2" ] || rm -rf "$1"
  exit 0`

interface MachinePlace {
  readonly name: string
  readonly space: string
  readonly address: string
  readonly directory: string
}

function createMachine({ name, space, address, directory }: MachinePlace): Machine {
  const run: Machine['run'] = async (command, words) => {
    const { stdout } = await call('ip', ['netns', 'exec', space, command, ...words], { timeout: RUN_MS_MAX })
    return stdout
  }
  return {
    name,
    address,
    run,
    start: (command, words, { user, environment = {}, isMessaging = false } = {}) => {
      const log = openSync(join(directory, `${name}.log`), 'a')
      const drop =
        user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups']
      const child = spawn('ip', ['netns', 'exec', space, ...drop, command, ...words], {
        cwd: directory,
        env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', ...environment },
        stdio: isMessaging ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
      })
      // Whoever waits for the program sees that it does not answer.
      child.on('error', () => {})
      return child
    },
    signalAll: async (signal) => {
      for (const pid of await listPids(space)) send(pid, signal)
    },
    cutFrom: async (others, cut) => {
      const list = others.map((other) => other.address).join(', ')
      const share = cut === 'some' ? `numgen random mod 100 < ${LOST_PERCENT}` : ''
      const rules = [`add rule inet fault arriving ip saddr { ${list} } ${share} drop`]
      if (cut !== 'arriving') rules.push(`add rule inet fault leaving ip daddr { ${list} } ${share} drop`)
      await run('nft', [[...CHAINS, ...rules].join('; ')])
    },
    heal: async () => void (await run('nft', ['add table inet fault; delete table inet fault'])),
    nameHost: async (host, address) => {
      // `ip netns exec` shows the files of this folder in the place of those in /etc. Not replaced: the programs have it open.
      await mkdir(`/etc/netns/${space}`, { recursive: true })
      await writeFile(`/etc/netns/${space}/hosts`, `127.0.0.1 localhost\n${address} ${host}\n`)
    },
  }
}

const CHAINS = [
  'add table inet fault',
  'add chain inet fault arriving { type filter hook input priority 0; }',
  'add chain inet fault leaving { type filter hook output priority 0; }',
]

async function listPids(space: string): Promise<number[]> {
  const { stdout } = await call('ip', ['netns', 'pids', space])
  return stdout.split('\n').filter(Boolean).map(Number)
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has exited.
  }
}
