import { createLogger, type GatewayLogger } from '../../telemetry/logger.ts'
import type { Config } from '../settings/config.ts'

/** Creates the logger of a serving process: readable lines in a terminal, JSON elsewhere. */
export function createProcessLogger({ logLevel, logPrompts }: Config): GatewayLogger {
  return createLogger({ level: logLevel, logPrompts, isPretty: process.stdout.isTTY })
}
