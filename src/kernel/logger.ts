/** What any part may say to the operator. Structural, so that pino fits it and a test can pass its own. */
export interface Logger {
  info(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export const silentLogger: Logger = { info: () => {}, warn: () => {}, error: () => {} }
