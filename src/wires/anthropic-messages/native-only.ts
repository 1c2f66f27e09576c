import { AppError } from '../../kernel/app-error.ts'

/** What only Anthropic's own API can do, asked of a model that is reached through another wire. */
export function nativeOnly(param: string, what: string): AppError {
  const message = `${what} can only be used with a model that is served by Anthropic itself.`
  return new AppError('unsupported_parameter', message, { param })
}
