import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { percentile } from './statistics.ts'

const WRITES = 100
const BLOCK = Buffer.alloc(8192)
const BLOCKS_IN_FILE = 64

/** Measures the median time until a written block is durable, which is the minimum time of a commit. */
export function measureDurableWriteUs(directory: string): number {
  const path = join(directory, 'durable-write')
  const file = openSync(path, 'w')
  const tookUs: number[] = []
  for (let index = 0; index < WRITES; index += 1) {
    const startedAtMs = performance.now()
    writeSync(file, BLOCK, 0, BLOCK.length, (index % BLOCKS_IN_FILE) * BLOCK.length)
    fdatasyncSync(file)
    tookUs.push((performance.now() - startedAtMs) * 1000)
  }
  closeSync(file)
  rmSync(path)
  return percentile(tookUs, 0.5)
}
