import { execFile } from 'node:child_process'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { promisify } from 'node:util'

const execFileAsync = promisify(execFile)

/** Returns the start time of a process in a system-specific unit, or null if it does not run. Used to recognise reused pids. */
export async function readProcessStartTime(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
    if (stat === null) return null
    // The process name in parentheses may contain spaces, so count the fields after the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const isZombie = fields[0] === 'Z'
    return isZombie ? null : (fields[19] ?? null)
  }
  const listed = await execFileAsync('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => null)
  const startTime = listed?.stdout.trim() ?? ''
  return startTime === '' ? null : startTime
}

/** Returns an id of the pid namespace and boot, because two containers on one volume may both have a pid 1. */
export async function readPidSpace(): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return boot === '' ? hostname() : `${boot.trim()}/${namespace}`
}
