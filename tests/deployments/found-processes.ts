import { readdir, readFile } from 'node:fs/promises'

interface FoundProcess {
  readonly pid: string
  readonly argv: readonly string[]
}

/** Returns the processes of this machine with this argument, without sandboxes, which have the arguments of their program. */
export async function findProcesses(argument: string): Promise<FoundProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => ({ pid, argv: (await readProcess(pid, 'cmdline')).split('\0') })),
  )
  return found.filter(({ argv }) => argv.includes(argument) && !argv.includes('--ro-bind'))
}

/** Reads a file of a process from `/proc`. Returns an empty string if the process has ended. */
export function readProcess(pid: string, name: 'cmdline' | 'environ' | 'status'): Promise<string> {
  return readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
}

export function argumentOf(found: FoundProcess | undefined, name: string): string | undefined {
  return found?.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(`--${name}=`.length)
}
