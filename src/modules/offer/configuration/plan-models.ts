import { invalidValue } from '../../../kernel/app-error.ts'
import type { ShortTurns } from '../../../kernel/turns/short-turns.ts'
import { giveCosts } from '../models/costs-of-routes.ts'
import type { AddedTogether } from '../models/model-change.ts'
import type { ModelChanges } from '../models/model-changes.ts'
import type { OfferedModel, OfferedPrice } from '../models/offered-model.ts'
import type { Author } from '../models/price-changes.ts'
import type { PlannedStep } from './planned-step.ts'
import { isSameValue } from './same-value.ts'
import type { WantedModel } from './wanted-configuration.ts'

/** The price lists of a model that were not withdrawn. */
export interface ListsOfModel {
  readonly current: OfferedPrice | undefined
  /** By the moment from which they are charged. */
  readonly future: ReadonlyMap<number, OfferedPrice>
}

export interface ModelPlanning {
  /** Those that are not removed, by id. */
  readonly models: ReadonlyMap<string, OfferedModel>
  /** The ids of those that end in the same change. */
  readonly removed: ReadonlySet<string>
  /** By the ids of models. */
  readonly lists: ReadonlyMap<string, ListsOfModel>
  readonly changes: ModelChanges
  readonly together: AddedTogether
  readonly author: Author
  /** Requests are served between parts of a long document. */
  readonly turns: ShortTurns
}

/** Returns what makes the offered models the wanted ones. */
export async function planModels(
  wanted: readonly WantedModel[],
  { models, lists, changes, together, author, turns }: ModelPlanning,
): Promise<readonly PlannedStep[]> {
  const steps: PlannedStep[] = []
  const seen = new Set<string>()
  for (const [index, { id, entry, price, visibility }] of wanted.entries()) {
    if (turns.isOver) await turns.next()
    if (seen.has(id)) throw invalidValue(`models.${index}.id`, `The document has '${id}' twice.`)
    seen.add(id)
    const before = models.get(id)
    if (before === undefined) {
      const input = { ...author, id, entry, price, visibility }
      steps.push({ kind: 'model', action: 'create', name: id, change: await changes.add(input, together) })
      continue
    }
    const current = lists.get(id)?.current
    const isPriced = isSameValue(current?.price, price)
    const beforeCosted = giveCosts(before.entry, current?.costs ?? [])
    if (isPriced && isSameValue(beforeCosted, entry) && isSameValue(before.visibility, visibility)) continue
    const removed = Object.keys(before.entry).filter((name) => !(name in entry))
    const patch = {
      ...author,
      entry: { ...entry, ...Object.fromEntries(removed.map((name) => [name, null])) },
      visibility,
      price: isPriced ? undefined : price,
    }
    const change = await changes.change(id, patch, together)
    steps.push({ kind: 'model', action: 'change', name: id, change })
  }
  for (const id of models.keys())
    if (!seen.has(id))
      steps.push({ kind: 'model', action: 'delete', name: id, change: await changes.remove(id, together) })
  return steps
}
