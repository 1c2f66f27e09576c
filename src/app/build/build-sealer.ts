import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKeyring, type Keyring } from '../../kernel/seal-text.ts'
import type { Database } from '../../storage/database.ts'
import { missingSealingKey, readSealingFingerprint, requireSealingKey } from '../../storage/installation.ts'
import type { Config } from '../settings/config.ts'

const KEY_BYTES = 32
const FILE = 'sealing.key'

type SealingConfig = Pick<Config, 'sealingKey' | 'otherSealingKey' | 'dataDir'>

/**
 * Returns the sealer with the operator's key, or with one in the data directory, which the first process to need it creates for all
 * of them. Throws if neither it nor one of the other keys has sealed the secrets of the database.
 */
export async function buildSealer(config: SealingConfig, database: Database): Promise<Keyring> {
  const { sealingKey, dataDir } = config
  const file = join(dataDir, FILE)
  // A new key would only hide that the old one is missing.
  if (sealingKey === null && !existsSync(file) && (await readSealingFingerprint(database)) !== null)
    throw missingSealingKey(file)
  const sealer = createKeyring(sealingKey ?? readKeyFile(dataDir), listOtherKeys(config))
  await requireSealingKey(database, sealer)
  return sealer
}

/** Returns the sealer that a gateway would have, without creating a key. Null if there is none. */
export function findSealer(config: SealingConfig): Keyring | null {
  const { sealingKey, dataDir } = config
  const file = join(dataDir, FILE)
  const key = sealingKey ?? (existsSync(file) ? readFileSync(file) : null)
  return key === null ? null : createKeyring(key, listOtherKeys(config))
}

/** Whoever sets a key for the first time has sealed with the file until then. */
function listOtherKeys({ sealingKey, otherSealingKey, dataDir }: SealingConfig): (string | Uint8Array)[] {
  const file = join(dataDir, FILE)
  const fileKey = sealingKey !== null && existsSync(file) ? readFileSync(file) : null
  return [otherSealingKey, fileKey].filter((key) => key !== null)
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
