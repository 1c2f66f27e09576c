import { execFile } from 'node:child_process'

/** A GPU of this machine, as `nvidia-smi` tells it. */
export interface FoundGpu {
  readonly index: number
  readonly name: string
  readonly totalMib: number
  readonly freeMib: number
}

const QUERY = ['--query-gpu=index,name,memory.total,memory.free', '--format=csv,noheader,nounits']
const TIMEOUT_MS = 10_000
const OUTPUT_BYTES_MAX = 256 * 1024
/** It runs but finds no GPU, or no driver. */
const NONE_STATUSES: readonly unknown[] = [6, 9]

/** None where there is no `nvidia-smi` on the path, or no driver. Throws where it fails otherwise. */
export function findGpus(path: string): Promise<readonly FoundGpu[]> {
  const options = { timeout: TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX, env: { PATH: path } }
  return new Promise((resolve, reject) => {
    execFile('nvidia-smi', QUERY, options, (error, stdout) => {
      if (error === null) resolve(stdout.split('\n').flatMap((line) => parseLine(line)))
      else if (error.code === 'ENOENT' || NONE_STATUSES.includes(error.code)) resolve([])
      else reject(new Error(`nvidia-smi failed: ${error.message.slice(0, 500)}`))
    })
  })
}

/** A GPU whose memory is not told (`[N/A]`) cannot be offered. */
function parseLine(line: string): FoundGpu[] {
  const [index, name, total, free] = line.split(',').map((field) => field.trim())
  if (name === undefined || name === '' || ![index, total, free].every((field) => /^\d+$/.test(field ?? '')))
    return []
  return [{ index: Number(index), name, totalMib: Number(total), freeMib: Number(free) }]
}
