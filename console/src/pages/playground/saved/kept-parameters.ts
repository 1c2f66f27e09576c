import { readPlaygroundSearch, type PlaygroundSearch } from '../playground-search.ts'

const PARAMETERS = ['system', 'temperature', 'top_p', 'max_tokens', 'effort', 'tools', 'schema'] as const

/** The parameters that are kept with a prompt. */
export function keptParameters(search: PlaygroundSearch): Record<string, unknown> {
  return Object.fromEntries(
    PARAMETERS.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]])),
  )
}

/** Only those, because what a colleague shares opens nothing and asks no second model. The others are cleared. */
export function searchFromKept(
  model: string | undefined,
  parameters: Readonly<Record<string, unknown>>,
): PlaygroundSearch {
  const known = Object.fromEntries(PARAMETERS.map((name) => [name, parameters[name]]))
  const cleared = Object.fromEntries(PARAMETERS.map((name) => [name, undefined]))
  return { ...cleared, ...readPlaygroundSearch({ ...known, model }) }
}
