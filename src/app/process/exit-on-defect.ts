import type { Logger } from '../../kernel/logger.ts'

/**
 * Ends the process on an uncaught error or an unhandled rejection, because its state is unknown then, and a new process starts
 * clean. The log is flushed on exit.
 */
export function exitOnDefect(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.error({ err: error }, 'an unexpected error ends this process')
    process.exit(1)
  })
}
