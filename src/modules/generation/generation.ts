import { setTimeout as wait } from 'node:timers/promises'
import type { Place } from '../../storage/place.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { UpstreamTimeouts } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import type { Catalog, CatalogModel } from '../catalog/catalog.ts'
import type { CandidateSelector, Inference } from '../inference/inference.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { TaskPerformer, Tasks } from '../tasks/tasks.ts'
import { answerNow, type PricedRequest } from './answer-now.ts'
import { checkWork } from './check-work.ts'
import { completeWork } from './complete-work.ts'
import { createGenerationTask } from './create-generation-task.ts'
import type { Pause } from './follow-job.ts'
import { GENERATION_KINDS, type GenerationKind } from './generation-kind.ts'
import type { GenerationRequest, GenerationResult } from './generation-request.ts'
import type { FindUploadedFile, GenerationMedia } from './input-files.ts'
import { estimateWork, priceOfWork } from './price-work.ts'
import { repeatTask, type RepeatedRequest } from './repeat-task.ts'
import { filterExtraMembers } from './filter-extra-members.ts'
import { createTaskPerformer, type FormerCallerOf } from './task-performer.ts'
import { jobOperationOf } from './work-operation.ts'

export type { ClientFile, DeliveryPreference, GenerationRequest } from './generation-request.ts'
export { IMAGE_BYTES_MAX } from './input-files.ts'

/** Generates images, video, music and speech: synchronously if the model allows it, otherwise as a task. */
export interface Generation {
  generate(request: GenerationRequest): Promise<GenerationResult>
  /** Returns the model of a request and the most that it may cost. Throws if the model cannot do it. Nothing is read or held. */
  quote(request: QuotedRequest): Quote
  /** Returns what a task was created with, to make it again. Throws `conflict` if that is not possible any more. */
  repeat(place: Place, taskId: string): Promise<RepeatedRequest>
  /** Returns the default duration of video or music. */
  durationOf(type: 'video' | 'music', model: string | null): number
  /** For the worker. */
  readonly performer: TaskPerformer
}

type QuotedRequest = Pick<GenerationRequest, 'type' | 'model' | 'work' | 'caller'>

interface Quote {
  readonly model: CatalogModel
  readonly nanoUsd: NanoUsd
}

interface GenerationOptions {
  readonly inference: Inference
  readonly catalog: Catalog
  readonly providers: Pick<ProviderRegistry, 'find'>
  readonly ledger: Pick<Ledger, 'hold' | 'knownBalanceNanoUsd'>
  readonly formerCallerOf: FormerCallerOf
  readonly tasks: Pick<Tasks, 'create' | 'readAfterChange' | 'readOrder'>
  readonly media: GenerationMedia
  readonly findFile: FindUploadedFile
  readonly clock: Clock
  /** For routes without timeouts of their own. */
  readonly timeouts: UpstreamTimeouts
  readonly trustedHostsOf: (providerId: string) => readonly string[]
  readonly pause?: Pause
}

const DURATION_SECONDS = { video: 5, music: 30 } as const

export function createGeneration(options: GenerationOptions): Generation {
  const { inference, catalog, ledger } = options
  const selectors = new Map(
    Object.values(GENERATION_KINDS).map(({ category, work }) => [
      category,
      inference.selectorFor([category], (provider) => jobOperationOf(provider, work) !== undefined),
    ]),
  )
  const selectorOf = ({ category }: GenerationKind): CandidateSelector => {
    const selector = selectors.get(category)
    if (!selector) throw new Error(`nobody selects models of the category ${category}`)
    return selector
  }
  const parts = { ...options, selectorOf, pause: options.pause ?? pauseFor }

  const price = (request: GenerationRequest): PricedRequest => {
    const { type, caller, requestId, record, cancellation, line } = request
    const selector = selectorOf(GENERATION_KINDS[type])
    const asking = { ...line, caller, requestId, record, cancellation, body: request, text: '', bytes: 0 }
    const check = (model: CatalogModel) => checkWork(type, model, completeWork(model, request.work))
    const resolved = inference.resolve({ selector, check, suits: suits(type) }, asking)
    const { model, routes } = resolved
    const work = filterExtraMembers(completeWork(model, request.work), routes)
    const responseFormat = request.responseFormat ?? model.bounds.responseFormatDefault
    return {
      request: { ...request, work, responseFormat },
      resolved,
      candidates: routes,
      price: priceOfWork(model, work),
    }
  }

  const quote: Generation['quote'] = ({ type, caller, model: named, work: asked }) => {
    const model = selectorOf(GENERATION_KINDS[type]).resolveModel(caller, named, suits(type))
    const work = completeWork(model, asked)
    checkWork(type, model, work)
    return { model, nanoUsd: estimateWork(priceOfWork(model, work), work) }
  }

  const generate = async (request: GenerationRequest): Promise<GenerationResult> => {
    const priced = price(request)
    const isTask =
      request.line === undefined &&
      (GENERATION_KINDS[request.type].isAlwaysTask ||
        request.preference.isAsyncWanted ||
        priced.resolved.model.delivery === 'async')
    // Check the quota before anything is charged. A response that contains its files stores none.
    if (isTask || priced.request.responseFormat !== 'b64_json')
      await options.media.requireRoom(request.caller.accountId)
    await inference.admitModel(priced.resolved, imagesOf(priced.request.work))
    if (!isTask) return { kind: 'done', answer: await answerNow(priced, parts) }
    const result = await createGenerationTask(priced, parts)
    request.record.balanceNanoUsd = balanceOf(request, ledger)
    request.record.outcome = 'completed'
    return result
  }

  return {
    generate,
    quote,
    repeat: (place, taskId) => repeatTask(options, place, taskId),
    durationOf: (type, model) => {
      const found = model === null ? catalog.list({ category: type })[0] : catalog.resolve(model)
      return found?.bounds.durations?.defaultSeconds ?? DURATION_SECONDS[type]
    },
    performer: createTaskPerformer(parts),
  }
}

/** Which models a request without a model may get. */
function suits(type: GenerationRequest['type']): (model: CatalogModel) => boolean {
  return ({ capabilities }) => type !== 'edit' || capabilities.has('image_edit')
}

/** How many images it makes, for the limits of projects. */
function imagesOf(work: GenerationRequest['work']): number {
  if (work.kind === 'image') return work.count
  return work.kind === 'upscale' || work.kind === 'bg_remove' ? 1 : 0
}

function balanceOf(
  { caller }: GenerationRequest,
  ledger: Pick<Ledger, 'knownBalanceNanoUsd'>,
): NanoUsd | null {
  return ledger.knownBalanceNanoUsd(caller.accountId) ?? null
}

const pauseFor: Pause = async (durationMs, { signal }) => {
  await wait(durationMs, undefined, { signal }).catch(() => {
    throw signal.reason
  })
}
