import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSealer, type Sealer } from '../../kernel/seal-text.ts'
import type { Config } from '../settings/config.ts'

const KEY_BYTES = 32
const FILE = 'sealing.key'

/** The operator's key, or one in the data directory, which the first process to need it creates for all of them. */
export function buildSealer({ sealingKey, dataDir }: Pick<Config, 'sealingKey' | 'dataDir'>): Sealer {
  return createSealer(sealingKey ?? readKeyFile(dataDir))
}

function readKeyFile(directory: string): Buffer {
  const path = join(directory, FILE)
  try {
    return readFileSync(path)
  } catch {
    mkdirSync(directory, { recursive: true })
    const draft = `${path}.${randomBytes(8).toString('hex')}`
    writeFileSync(draft, randomBytes(KEY_BYTES), { mode: 0o600, flag: 'wx' })
    try {
      // A link makes the complete file visible at once, and fails if another process has created the key.
      linkSync(draft, path)
    } catch {
      // The key of the other process is read below.
    } finally {
      unlinkSync(draft)
    }
    return readFileSync(path)
  }
}
