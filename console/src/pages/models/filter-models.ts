import type { Model } from '../../api/model-kinds.ts'
import type { ModelsSearch } from './models-search.ts'

/** Returns the models that pass all filters. */
export function filterModels(models: readonly Model[], search: ModelsSearch): Model[] {
  const words = search.text?.toLowerCase().split(/\s+/) ?? []
  return models.filter((model) => {
    const text = `${model.id} ${model.display_name} ${model.vendor} ${model.aliases.join(' ')}`.toLowerCase()
    return (
      words.every((word) => text.includes(word)) &&
      (search.kind === undefined || model.category === search.kind) &&
      (search.vendor === undefined || model.vendor === search.vendor) &&
      (search.capability === undefined || model.capabilities.some((tag) => tag === search.capability)) &&
      (search.ready !== true || model.is_ready)
    )
  })
}
