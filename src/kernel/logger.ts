/** The log interface of all modules. pino implements it, and tests can pass their own. */
export interface Logger {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export const silentLogger: Logger = { info: () => {}, warn: () => {}, error: () => {} }
