import type { ConfiguredModel, ModelBody, ModelChange } from '../../../api/model-settings.ts'
import { readJson } from '../../../ui/forms/read-json.ts'
import { draftOfPrice, EMPTY_PRICE, readPrice, type PriceDraft } from '../price/price-draft.ts'

export type Capability = NonNullable<ModelBody['capabilities']>[number]

export interface RouteDraft {
  readonly provider: string
  readonly model: string
  readonly priority: string
  readonly weight: string
}

/** A model as it is typed. */
export interface ModelDraft {
  readonly id: string
  readonly name: string
  readonly vendor: string
  readonly category: ModelBody['category']
  readonly context: string
  readonly maxOutput: string
  readonly capabilities: readonly Capability[]
  readonly aliases: string
  readonly routes: readonly RouteDraft[]
  readonly price: PriceDraft
  readonly availableFrom: string
  readonly deprecatedFrom: string
  readonly shutdownAt: string
  readonly successor: string
  readonly successorAnswers: boolean
  readonly isListed: boolean
  readonly accounts: string
  readonly projects: string
  /** Members without a field, as JSON. */
  readonly others: string
  readonly reason: string
}

export const EMPTY_ROUTE: RouteDraft = { provider: '', model: '', priority: '', weight: '' }

export const EMPTY_MODEL: ModelDraft = {
  id: '',
  name: '',
  vendor: '',
  category: 'llm',
  context: '',
  maxOutput: '',
  capabilities: ['chat'],
  aliases: '',
  routes: [EMPTY_ROUTE],
  price: EMPTY_PRICE,
  availableFrom: '',
  deprecatedFrom: '',
  shutdownAt: '',
  successor: '',
  successorAnswers: false,
  isListed: true,
  accounts: '',
  projects: '',
  others: '',
  reason: '',
}

export function draftOfModel(model: ConfiguredModel): ModelDraft {
  const { released, retires, dimensions, delivery, bounds } = model
  const others = { released, retires, dimensions, delivery, bounds }
  return {
    id: model.id,
    name: model.name,
    vendor: model.vendor,
    category: model.category,
    context: String(model.context_tokens ?? ''),
    maxOutput: String(model.max_output_tokens ?? ''),
    capabilities: model.capabilities ?? [],
    aliases: model.aliases?.join(', ') ?? '',
    routes: model.routes.map((route) => ({
      provider: route.provider,
      model: route.model,
      priority: String(route.priority ?? ''),
      weight: String(route.weight ?? ''),
    })),
    price: draftOfPrice(model.price),
    availableFrom: model.available_from ?? '',
    deprecatedFrom: model.deprecated_from ?? '',
    shutdownAt: model.shutdown_at ?? '',
    successor: model.successor ?? '',
    successorAnswers: model.successor_answers === true,
    isListed: model.listed !== false,
    accounts: model.visibility?.accounts?.join(', ') ?? '',
    projects: model.visibility?.projects?.join(', ') ?? '',
    others: JSON.stringify(others, null, 2),
    reason: '',
  }
}

type Members = Omit<ModelBody, 'id' | 'price' | 'reason'>

interface ReadModel {
  readonly members: Members
  readonly price: ModelBody['price']
}

/** What is wrong with the parts that are typed as JSON. */
export interface ModelProblems {
  readonly others: string | null
  readonly price: string | null
}

/** Null while a part cannot be read. The gateway checks what belongs together. */
export function readModel(
  draft: ModelDraft,
  before: ConfiguredModel | null,
): { readonly read: ReadModel | null; readonly problems: ModelProblems } {
  const price = readPrice(draft.price)
  const others = readOthers(draft.others)
  const problems = { others: others.problem, price: price.problem }
  if (price.problem !== null || others.problem !== null) return { read: null, problems }
  return {
    read: { members: { ...others.members, ...membersOf(draft, before) }, price: price.price },
    problems,
  }
}

function readOthers(text: string): { members: Partial<Members>; problem: null } | { problem: string } {
  if (text.trim() === '') return { members: {}, problem: null }
  const read = readJson(text)
  if (read.problem !== null) return { problem: read.problem }
  if (typeof read.value !== 'object' || read.value === null || Array.isArray(read.value))
    return { problem: 'An object is expected, such as {"dimensions": 1536}.' }
  return { members: read.value, problem: null }
}

function membersOf(draft: ModelDraft, before: ConfiguredModel | null): Members {
  const [accounts, projects] = [wordsOf(draft.accounts), wordsOf(draft.projects)]
  return {
    name: draft.name.trim(),
    vendor: draft.vendor.trim(),
    category: draft.category,
    ...(draft.context === '' ? {} : { context_tokens: Number(draft.context) }),
    ...(draft.maxOutput === '' ? {} : { max_output_tokens: Number(draft.maxOutput) }),
    capabilities: [...draft.capabilities],
    aliases: wordsOf(draft.aliases),
    routes: draft.routes.map((route) => routeOf(route, before)),
    ...textMember('available_from', draft.availableFrom),
    ...textMember('deprecated_from', draft.deprecatedFrom),
    ...textMember('shutdown_at', draft.shutdownAt),
    ...textMember('successor', draft.successor),
    ...(draft.successorAnswers ? { successor_answers: true } : {}),
    listed: draft.isListed,
    visibility: accounts.length + projects.length === 0 ? null : { accounts, projects },
  }
}

/** Time limits and the cost of a route have no field and stay as they are. */
function routeOf({ provider, model, priority, weight }: RouteDraft, before: ConfiguredModel | null) {
  const same = before?.routes.find((route) => route.provider === provider && route.model === model)
  return {
    provider: provider.trim(),
    model: model.trim(),
    ...(priority === '' ? {} : { priority: Number(priority) }),
    ...(weight === '' ? {} : { weight: Number(weight) }),
    ...(same?.timeouts === undefined ? {} : { timeouts: same.timeouts }),
    ...(same?.cost === undefined ? {} : { cost: same.cost }),
  }
}

function textMember<Name extends string>(name: Name, text: string): Partial<Record<Name, string>> {
  const member: Partial<Record<Name, string>> = {}
  if (text.trim() !== '') member[name] = text.trim()
  return member
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '')
}

/** Members of a model that can be removed by null. */
const REMOVABLE = [
  'released',
  'retires',
  'successor',
  'available_from',
  'deprecated_from',
  'shutdown_at',
  'successor_answers',
  'context_tokens',
  'max_output_tokens',
  'dimensions',
  'delivery',
  'bounds',
] as const

/** What differs from the model as it is. The price is set elsewhere, with its moment. */
export function changesOf(before: ConfiguredModel, { members }: ReadModel): ModelChange {
  const now: Readonly<Record<string, unknown>> = { ...before }
  const changed = Object.fromEntries(
    Object.entries(members).filter(([name, value]) => !isSame(now[name], value)),
  )
  const removed = Object.fromEntries(
    REMOVABLE.filter((name) => now[name] !== undefined && members[name] === undefined).map((name) => [
      name,
      null,
    ]),
  )
  return { ...changed, ...removed }
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left ?? null) === JSON.stringify(right ?? null)
}
