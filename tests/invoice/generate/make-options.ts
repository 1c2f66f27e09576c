import type { OptionChoice, WireName } from '../case.ts'
import type { Random } from './random.ts'

/** Members that change the bill at some vendor, with the spelling that each parser may read. */
const OPTIONS: readonly (readonly [string, readonly unknown[]])[] = [
  ['service_tier', ['auto', 'default', 'priority', 'flex']],
  ['Service_Tier', ['priority']],
  ['speed', ['standard', 'fast']],
  ['Speed', ['fast']],
  ['SPEED', ['fast']],
  ['inference_geo', ['global', 'us']],
  ['Inference_Geo', ['us']],
  ['n', [1, 2, 3]],
  ['N', [3]],
  ['max_tokens', [2, 4_000]],
  ['Max_Tokens', [4_000]],
  ['max_completion_tokens', [4_000]],
  ['max_output_tokens', [4_000]],
  ['web_search_options', [{}]],
  ['temperature', [0.5]],
  ['reasoning_effort', ['low', 'high']],
  ['thinking', [{ type: 'enabled', budget_tokens: 2_000 }]],
  ['stream', [true, false]],
  ['user', ['somebody']],
  ['metadata', [{ a: 'b' }]],
  ['content', ['word '.repeat(3_000)]],
]

/** A route that creates other objects takes no such members. */
const PLAIN: ReadonlySet<WireName> = new Set(['run', 'turn', 'edit', 'embeddings'])

export function makeOptions(random: Random, wire: WireName): OptionChoice[] {
  if (PLAIN.has(wire) || random.chance(0.65)) return []
  return random.some(2, () => {
    const [name, values] = random.pick(OPTIONS)
    const isNested = name === 'content'
    return {
      name,
      value: random.pick(values),
      at: isNested ? 'first of a message' : random.pick(['first', 'last']),
    }
  })
}
