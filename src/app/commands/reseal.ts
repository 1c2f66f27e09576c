import { parseArgs } from 'node:util'
import type { Keyring } from '../../kernel/seal-text.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Database } from '../../storage/database.ts'
import { replaceSealingKey } from '../../storage/installation.ts'
import { resealColumn } from '../../storage/sealed-columns.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { buildSealer } from '../build/build-sealer.ts'
import { SEALED_COLUMNS } from '../build/list-sealed-columns.ts'
import { findStorage } from '../process/find-storage.ts'
import { loadConfig } from '../settings/config.ts'
import { CONFIG_OPTION, type Command } from './command.ts'

const STATEMENT_MS_MAX = 60_000
/** A change that was under way during one pass may have written what the old key sealed. The next pass finds it. */
const PASSES_MAX = 5

/** Seals all secrets with the current sealing key, so that the one before can be forgotten. */
export const reseal: Command = {
  usage: 'reseal [--config FILE]',
  options: CONFIG_OPTION,
  async run(words) {
    const { values } = parseArgs({ args: [...words], options: { config: { type: 'string' } } })
    const config = loadConfig({ environment: process.env, file: values.config ?? null })
    const storage = await findStorage(config, createLogger({ level: 'silent' }))
    const { connectionString } = storage
    const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: STATEMENT_MS_MAX })
    try {
      return await resealAll(database, await buildSealer(config, database))
    } finally {
      await database.close()
      await storage.close()
    }
  },
}

export async function resealAll(database: Database, keyring: Keyring): Promise<number> {
  let count = 0
  let unreadable = 0
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    const countBefore = count
    unreadable = 0
    for (const column of SEALED_COLUMNS) {
      const found = await resealColumn(database, keyring, column)
      count += found.resealed
      unreadable += found.unreadable
    }
    if (count === countBefore) break
  }
  process.stdout.write(`Sealed ${count} secrets with the current key.\n`)
  if (unreadable > 0) {
    process.stderr.write(
      `parkway: ${unreadable} secrets cannot be opened with any key of this gateway. Name the key that sealed them in PARKWAY_OTHER_SEALING_KEY and run this again.\n`,
    )
    return 1
  }
  await replaceSealingKey(database, keyring)
  process.stdout.write('No secret needs another key any more. Gateways may start without it.\n')
  return 0
}
