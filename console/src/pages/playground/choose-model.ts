import type { Model } from '../../api/model-kinds.ts'
import { estimateCostUsd } from './estimate-cost.ts'
import type { PlaygroundSearch } from './playground-search.ts'

/** The model of the address, by id or alias, or the cheapest one of its kind that is ready. For chat it is the first one. */
export function chooseModel(
  models: readonly Model[],
  { model: name, kind = 'llm' }: PlaygroundSearch,
): Model | undefined {
  if (name !== undefined) return models.find(({ id, aliases }) => id === name || aliases.includes(name))
  const ofKind = models.filter(({ category }) => category === kind)
  const ready = ofKind.filter((model) => model.is_ready && takesText(model))
  const priced = ready.map((model) => ({ model, costUsd: estimateCostUsd(model, { input: 'text' }) ?? 0 }))
  return priced.toSorted((one, other) => one.costUsd - other.costUsd)[0]?.model ?? ofKind[0]
}

/** Some videos can only be made of a picture. */
function takesText({ category, capabilities }: Model): boolean {
  return category !== 'video' || capabilities.includes('text_to_video')
}
