import { Untranslatable } from '../untranslatable.ts'

/** What only Anthropic's own API can do, asked of a model that is reached through another wire. */
export function nativeOnly(param: string, what: string): Untranslatable {
  return new Untranslatable(
    `${what} can only be used with a model that is served by Anthropic itself.`,
    param,
  )
}
