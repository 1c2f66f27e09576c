import { execFile } from 'node:child_process'

/** A GPU of this machine, as reported by `nvidia-smi`. */
export interface FoundGpu {
  readonly index: number
  readonly name: string
  readonly totalMib: number
  readonly freeMib: number
}

const QUERY = ['--query-gpu=index,name,memory.total,memory.free', '--format=csv,noheader,nounits']
const TIMEOUT_MS = 10_000
const OUTPUT_BYTES_MAX = 256 * 1024
/** Exit statuses of `nvidia-smi` if it finds no GPU or no driver. */
const NONE_STATUSES: readonly unknown[] = [6, 9]

/** Lists the GPUs. Returns an empty list without `nvidia-smi` on the path, GPU or driver. Throws on any other error. */
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

/** Parses one line of the output. Skips a GPU whose memory is not reported (`[N/A]`). */
function parseLine(line: string): FoundGpu[] {
  const [index, name, total, free] = line.split(',').map((field) => field.trim())
  if (name === undefined || name === '' || ![index, total, free].every((field) => /^\d+$/.test(field ?? '')))
    return []
  return [{ index: Number(index), name, totalMib: Number(total), freeMib: Number(free) }]
}
