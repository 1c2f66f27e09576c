import { execFile } from 'node:child_process'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { promisify } from 'node:util'

const execFileAsync = promisify(execFile)

/** When a process started, in whatever unit the system counts; null when it does not run. Tells a reused pid apart. */
export async function readProcessStartTime(pid: number): Promise<string | null> {
  if (process.platform === 'linux') {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
    if (stat === null) return null
    // The name in parentheses may hold spaces, so fields are counted after the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const isZombie = fields[0] === 'Z'
    return isZombie ? null : (fields[19] ?? null)
  }
  const listed = await execFileAsync('ps', ['-o', 'lstart=', '-p', String(pid)]).catch(() => null)
  const startTime = listed?.stdout.trim() ?? ''
  return startTime === '' ? null : startTime
}

/** Names the space in which pids mean something: two containers on one volume each have a pid 1. */
export async function readPidSpace(): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '')
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return boot === '' ? hostname() : `${boot.trim()}/${namespace}`
}
