import { execFile } from 'node:child_process'

/** A GPU of this machine, as reported by `nvidia-smi`. */
export interface FoundGpu {
  readonly index: number
  readonly name: string
  readonly totalMib: number
  readonly freeMib: number
}

const FIELDS = ['index', 'name', 'memory.total', 'memory.free']
const TIMEOUT_MS = 10_000
const OUTPUT_BYTES_MAX = 256 * 1024
/** Exit statuses of `nvidia-smi` if it finds no GPU or no driver. */
const NONE_STATUSES: readonly unknown[] = [6, 9]
/**
 * The tool is not installed or cannot be run: a directory of the path that cannot be read, a file without the right to execute or of
 * another machine. The search of the path fails with the last of such errors.
 */
const UNUSABLE_CODES: readonly unknown[] = ['ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'ENOEXEC', 'ELOOP']

/**
 * Lists the GPUs. Returns an empty list without a GPU or driver, and without an `nvidia-smi` on the path that can be run. Throws on
 * any other error.
 */
export async function findGpus(
  path: string,
  onUnusable?: (code: string) => void,
): Promise<readonly FoundGpu[]> {
  return (await queryGpus(path, FIELDS, TIMEOUT_MS, onUnusable)).flatMap((fields) => parseFields(fields))
}

/** Returns the given fields of each GPU as text. Throws and returns an empty list in the same cases as `findGpus`. */
export function queryGpus(
  path: string,
  fields: readonly string[],
  timeoutMs: number,
  onUnusable?: (code: string) => void,
): Promise<readonly (readonly string[])[]> {
  const query = [`--query-gpu=${fields.join(',')}`, '--format=csv,noheader,nounits']
  const options = { timeout: timeoutMs, maxBuffer: OUTPUT_BYTES_MAX, env: { PATH: path } }
  return new Promise((resolve, reject) => {
    execFile('nvidia-smi', query, options, (error, stdout) => {
      if (error === null)
        resolve(stdout.split('\n').map((line) => line.split(',').map((field) => field.trim())))
      else if (UNUSABLE_CODES.includes(error.code) || NONE_STATUSES.includes(error.code)) {
        if (typeof error.code === 'string' && error.code !== 'ENOENT') onUnusable?.(error.code)
        resolve([])
      } else reject(new Error(`nvidia-smi failed: ${error.message.slice(0, 500)}`))
    })
  })
}

/** Skips a GPU whose memory is not reported (`[N/A]`). */
function parseFields([index, name, total, free]: readonly string[]): FoundGpu[] {
  if (name === undefined || name === '' || ![index, total, free].every((field) => /^\d+$/.test(field ?? '')))
    return []
  return [{ index: Number(index), name, totalMib: Number(total), freeMib: Number(free) }]
}
