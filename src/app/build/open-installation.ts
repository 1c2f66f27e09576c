import type { Sealer } from '../../kernel/seal-text.ts'
import type { Database } from '../../storage/database.ts'
import { readInstallation, type Installation } from '../../storage/installation.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Config } from '../settings/config.ts'
import { buildSealer } from './build-sealer.ts'

const PAUSED =
  'this is a restored copy: it leaves tasks, deployments and files of the original alone; if the original is gone, run `parkway take-over`'

/** Reads what this database is, and checks that this gateway has the key of its secrets. */
export async function openInstallation(
  config: Config,
  database: Database,
  logger: GatewayLogger,
): Promise<{ installation: Installation; sealer: Sealer }> {
  const installation = await readInstallation(database)
  if (installation.isPaused) logger.warn({}, PAUSED)
  return { installation, sealer: await buildSealer(config, database) }
}
