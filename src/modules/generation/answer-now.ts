import type { Clock } from '../../kernel/clock.ts'
import type { Place } from '../../storage/place.ts'
import type { MediaOutput } from '../../providers/media/media-operation.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import {
  continueAfterDisconnect,
  type CallSteps,
  type Candidate,
  type Inference,
  type ContinuedWork,
  type PaidCall,
  type ResolvedCall,
} from '../inference/inference.ts'
import { labelsOf } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Media } from '../media/media.ts'
import { addressItem, inlineItem } from './answer-item.ts'
import { countUnits, describeUsage } from './describe-output.ts'
import { followJob, type FollowedJob, type Pause } from './follow-job.ts'
import { GENERATION_KINDS } from './generation-kind.ts'
import type { AnswerItem, GenerationAnswer, GenerationRequest } from './generation-request.ts'
import {
  keepInputs,
  listFiles,
  loadInputs,
  type FindUploadedFile,
  type GenerationMedia,
} from './input-files.ts'
import { keepOutput, type KeptFile } from './keep-output.ts'
import {
  estimateWork,
  priceOutput,
  type MadeOutput,
  type WorkPrice,
  countEstimate,
  countOutput,
} from './price-work.ts'
import { submitWork } from './submit-work.ts'
import { cancelJob } from './task-performer.ts'
import { jobOperationOf } from './work-operation.ts'

export interface AnswerNowOptions {
  readonly inference: Inference
  readonly ledger: Pick<Ledger, 'hold'>
  readonly media: GenerationMedia
  readonly findFile: FindUploadedFile
  readonly clock: Clock
  readonly trustedHostsOf: (providerId: string) => readonly string[]
  readonly pause: Pause
}

/** A request whose model and price are known. */
export interface PricedRequest {
  /** With the work as it is sent upstream. */
  readonly request: GenerationRequest
  readonly resolved: ResolvedCall<GenerationRequest>
  readonly candidates: readonly Candidate[]
  readonly price: WorkPrice
}

/** Longer than any synchronous model takes. Other models use tasks. */
const ANSWER_MS_MAX = 300_000
/** A line of a batch waits for models that take their time, too. */
const LINE_MS_MAX = 1_800_000
/** How long a client waits for a store that does not work. A task waits until its deadline. */
const STORE_WAIT_MS = 15_000

/**
 * Does the work while the client waits, and charges before the response is sent. Once an upstream has been called, the work
 * continues and is charged even if the client disconnects, because the vendor bills it; its files are then deleted. If the result
 * is not awaited to the end, the estimate is charged.
 */
export async function answerNow(priced: PricedRequest, options: AnswerNowOptions): Promise<GenerationAnswer> {
  const { inference, media, clock } = options
  const { request } = priced
  const kept: string[] = []
  try {
    const { items, made } = await inference.payResolved(createSteps(priced, kept, options), priced.resolved)
    // A line that is charged keeps its answer, although its worker stops.
    if (request.line === undefined || !request.record.isBilled) request.cancellation.throwIfCancelled()
    return {
      created: Math.floor(clock.nowMs() / 1000),
      data: items,
      usage: describeUsage(request.work, made, request.record.costNanoUsd ?? 0n),
    }
  } catch (error) {
    await media.remove(kept)
    throw error
  }
}

interface NowPlan {
  readonly wantedNanoUsd: NanoUsd
  readonly continuedWork: ContinuedWork
}

interface AnsweredNow {
  readonly items: readonly AnswerItem[]
  readonly made: MadeOutput
}

/** Adds the stored files to `kept`, also if the call fails later. */
function createSteps(
  { request, candidates, price }: PricedRequest,
  kept: string[],
  options: AnswerNowOptions,
): CallSteps<GenerationRequest, NowPlan, AnsweredNow> {
  const { inference, ledger } = options
  const { caller, cancellation, work } = request
  return {
    prepare: async ({ asked, model, startedMs }) => {
      const wantedNanoUsd = estimateWork(price, work)
      const charged = { model: model.id, labels: labelsOf(caller), atMs: startedMs }
      const amount = { wantedNanoUsd, leastNanoUsd: wantedNanoUsd }
      const hold = await ledger.hold(caller, { ...charged, ...amount, cancellation })
      const continuedWork = continueAfterDisconnect(cancellation, caller.accountId, inference.drains)
      const continued = { ...asked, cancellation: continuedWork.cancellation }
      return { hold, continuedWork, request: continued, candidates, plan: { wantedNanoUsd, continuedWork } }
    },
    perform: async (call) => {
      const { output, ...context } = await makeOutput(request, call, options)
      const { cancellation: stop } = call.request
      const files = cancellation.isCancelled
        ? []
        : await collectFiles(output, { ...request, cancellation: stop }, { ...options, ...context })
      kept.push(...files.flatMap(({ kept: one }) => (one === null ? [] : [one.file.id])))
      const made = { files: output.files.length, seconds: output.seconds }
      request.record.units = countUnits(work, made)
      call.bill.charge(priceOutput(price, work, made), countOutput(price, work, made))
      return { items: files.map(({ item }) => item), made }
    },
    chargeUnread: ({ bill, plan }) => bill.charge(plan.wantedNanoUsd, countEstimate(price, work)),
  }
}

interface MadeNow {
  readonly output: MediaOutput
  readonly provider: string
  readonly refresh?: (() => Promise<MediaOutput>) | undefined
}

/** Stores the client's files, which verifies that they are images, and deletes them afterwards. */
async function makeOutput(
  request: GenerationRequest,
  { candidates, request: continued, plan: { continuedWork } }: PaidCall<GenerationRequest, NowPlan>,
  options: AnswerNowOptions,
): Promise<MadeNow> {
  const { media, findFile, clock, pause } = options
  const { work, requestId, cancellation, caller } = request
  const stored = await keepInputs(work, { media, findFile, place: caller, cancellation })
  let followed: FollowedJob | null = null
  try {
    const submitted = await submitWork(options.inference, {
      work: await loadInputs(stored, { media, place: caller }),
      candidates,
      request: continued,
      notes: {
        // Do not call the upstream for a client that has disconnected.
        noteSubmitting: async ({ provider: id }) => {
          cancellation.throwIfCancelled()
          continuedWork.noteAsked(candidates.find(({ provider }) => provider.id === id)?.provider)
        },
        noteRefused: async () => continuedWork.noteRefused(),
        saveJob: async () => {},
      },
    })
    const { provider, upstreamModel, timeouts } = submitted.candidate
    if (submitted.kind === 'done') return { output: submitted.output, provider: provider.id }
    const { job, pollAfterMs } = submitted
    const operation = jobOperationOf(provider, GENERATION_KINDS[request.type].work) ?? {}
    const current = { provider: provider.id, upstreamModel, job, operation, requestId, timeouts }
    followed = current
    const deadlineAtMs = clock.monotonicMs() + (request.line === undefined ? ANSWER_MS_MAX : LINE_MS_MAX)
    const follow = (afterMs?: number) =>
      followJob(current, {
        clock,
        pause,
        cancellation: continued.cancellation,
        deadlineAtMs,
        pollAfterMs: afterMs,
        reportProgress: () => {},
      })
    return { output: await follow(pollAfterMs), provider: provider.id, refresh: () => follow() }
  } catch (error) {
    await cancelJob(followed)
    throw error
  } finally {
    await media.remove(listFiles(stored).map(({ mediaId }) => mediaId))
  }
}

interface CollectedFile {
  readonly item: AnswerItem
  /** Null for a file that is in the response itself. */
  readonly kept: KeptFile | null
}

async function collectFiles(
  output: MediaOutput,
  request: GenerationRequest,
  options: AnswerNowOptions & MadeContext,
): Promise<CollectedFile[]> {
  const { media } = options
  const { caller: place } = request
  const isInline = request.responseFormat === 'b64_json'
  if (isInline && output.files.every((file) => file.kind === 'bytes')) {
    return output.files.map((file) => ({
      item: inlineItem(file.bytes, file.revisedPrompt),
      kept: null,
    }))
  }
  const kept = await keepOutput(output, {
    media,
    place,
    kind: GENERATION_KINDS[request.type].media,
    trustedHosts: options.trustedHostsOf(options.provider),
    cancellation: request.cancellation,
    pause: options.pause,
    storeWaitMs: STORE_WAIT_MS,
    refresh: options.refresh,
  })
  if (!isInline) {
    // The answer of a line is read a day later, or later than that.
    const isLasting = request.line !== undefined
    return kept.map((one) => ({
      item: addressItem(
        isLasting
          ? media.lastingAddressOf(one.file, request.baseUrl)
          : media.addressOf(one.file, request.baseUrl),
        one.revisedPrompt,
      ),
      kept: one,
    }))
  }
  const items = await inlineFiles(media, place, kept)
  await media.remove(kept.map(({ file }) => file.id))
  return items.map((item) => ({ item, kept: null }))
}

type MadeContext = Omit<MadeNow, 'output'>

async function inlineFiles(
  media: Pick<Media, 'read'>,
  place: Place,
  kept: readonly KeptFile[],
): Promise<AnswerItem[]> {
  const items: AnswerItem[] = []
  for (const { file, revisedPrompt } of kept) {
    const { bytes } = await media.read(place, file.id)
    items.push(inlineItem(bytes, revisedPrompt))
  }
  return items
}
