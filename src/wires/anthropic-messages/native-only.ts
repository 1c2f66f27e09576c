import { Untranslatable } from '../untranslatable.ts'

/** Returns the error for a feature that only Anthropic's own API has, requested from a model behind another wire. */
export function nativeOnly(param: string, what: string): Untranslatable {
  return new Untranslatable(
    `${what} can only be used with a model that is served by Anthropic itself.`,
    param,
  )
}
