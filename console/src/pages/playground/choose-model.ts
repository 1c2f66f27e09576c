import type { Model } from '../../api/model-kinds.ts'
import type { PlaygroundSearch } from './playground-search.ts'

/** The model of the address, by id or alias, or the first one of its kind that is ready. */
export function chooseModel(
  models: readonly Model[],
  { model: name, kind = 'llm' }: PlaygroundSearch,
): Model | undefined {
  if (name !== undefined) return models.find(({ id, aliases }) => id === name || aliases.includes(name))
  const ofKind = models.filter(({ category }) => category === kind)
  return ofKind.find(({ is_ready }) => is_ready) ?? ofKind[0]
}
