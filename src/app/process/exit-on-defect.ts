import type { Logger } from '../../kernel/logger.ts'

/**
 * Ends the process on an error nobody caught: what it left half done is unknown, and another process starts clean.
 * A rejection nobody handled arrives here too. The log is written out on exit.
 */
export function exitOnDefect(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.error({ err: error }, 'an unexpected error ends this process')
    process.exit(1)
  })
}
