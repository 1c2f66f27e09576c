import type { Clock } from '../../kernel/clock.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { labelsOf } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Task, Tasks } from '../tasks/tasks.ts'
import { addressItem, inlineItem } from './answer-item.ts'
import type { PricedRequest } from './answer-now.ts'
import { GENERATION_KINDS } from './generation-kind.ts'
import type { AnswerItem, GenerationRequest, GenerationResult } from './generation-request.ts'
import { keepInputs, listFiles, type FindUploadedFile, type GenerationMedia } from './input-files.ts'
import { countEstimate, estimateWork } from './price-work.ts'
import { writeStoredWork } from './stored-work.ts'

interface CreateOptions {
  readonly tasks: Pick<Tasks, 'create' | 'readAfterChange'>
  readonly ledger: Pick<Ledger, 'hold'>
  readonly media: GenerationMedia
  readonly findFile: FindUploadedFile
  readonly clock: Clock
}

const WAIT_SECONDS_MAX = 60

/** Creates a task for the request and waits for it as long as the client asked. */
export async function createGenerationTask(
  priced: PricedRequest,
  options: CreateOptions,
): Promise<GenerationResult> {
  const { request } = priced
  const created = await createTask(priced, options)
  const { waitSeconds } = request.preference
  // Video and music take longer than a connection can be held open.
  if (waitSeconds === null || GENERATION_KINDS[request.type].isAlwaysTask)
    return { kind: 'task', task: created }
  const task = await waitForEnd(created, request, { ...options, waitSeconds })
  if (task.status !== 'completed') return { kind: 'task', task }
  request.record.costNanoUsd = task.costNanoUsd
  return {
    kind: 'done',
    answer: {
      created: Math.floor(task.createdAt.getTime() / 1000),
      data: await collectItems(task, request, options.media),
      usage: readCounts(task.usage),
    },
  }
}

async function createTask(
  { request, resolved, price }: PricedRequest,
  { tasks, ledger, media, findFile }: CreateOptions,
): Promise<Task> {
  const { caller, cancellation, work, type } = request
  const { model, requestedModel, startedMs } = resolved
  const holdNanoUsd = estimateWork(price, work)
  if (listFiles(work).length > 0) {
    // Check the balance before fetching input files.
    const charged = { model: model.id, labels: labelsOf(caller), atMs: startedMs }
    const amount = { wantedNanoUsd: holdNanoUsd, leastNanoUsd: holdNanoUsd }
    const hold = await ledger.hold(caller, { ...charged, ...amount, cancellation })
    hold.release()
  }
  const stored = await keepInputs(work, { media, findFile, place: caller, cancellation })
  try {
    return await tasks.create({
      caller,
      requestId: request.requestId,
      type,
      model: model.id,
      requestedModel,
      work: writeStoredWork({ work: stored, price }),
      holdNanoUsd,
      priceVersion: price.version,
      heldCounted: countEstimate(price, work),
      expectedMs: GENERATION_KINDS[type].expectedMs,
      webhookUrl: request.webhookUrl,
      metadata: request.metadata,
      traceparent: request.record.traceparent,
    })
  } catch (error) {
    await media.remove(listFiles(stored).map(({ mediaId }) => mediaId))
    throw error
  }
}

async function waitForEnd(
  created: Task,
  { caller, cancellation }: GenerationRequest,
  { tasks, clock, waitSeconds }: CreateOptions & { waitSeconds: number },
): Promise<Task> {
  const untilMs = clock.monotonicMs() + Math.min(waitSeconds, WAIT_SECONDS_MAX) * 1000
  let task = created
  while (task.status === 'pending' || task.status === 'processing') {
    const seconds = (untilMs - clock.monotonicMs()) / 1000
    if (seconds <= 0) break
    task = await tasks.readAfterChange(caller, task.id, { seconds, cancellation })
  }
  return task
}

/** Returns the files in the requested format, as a synchronous model would. */
async function collectItems(
  { result, mediaIds }: Task,
  { caller, responseFormat, baseUrl }: GenerationRequest,
  media: Pick<GenerationMedia, 'read' | 'addressOf'>,
): Promise<AnswerItem[]> {
  const prompts = readPrompts(result)
  const items: AnswerItem[] = []
  // Sequential, so that only one file is loaded at a time.
  for (const [index, id] of mediaIds.entries()) {
    const prompt = prompts[index]
    items.push(
      responseFormat === 'b64_json'
        ? inlineItem((await media.read(caller, id)).bytes, prompt)
        : addressItem(media.addressOf({ id }, baseUrl), prompt),
    )
  }
  return items
}

function readPrompts(result: unknown): (string | undefined)[] {
  const data: unknown = isRecord(result) ? result['data'] : null
  if (!Array.isArray(data)) return []
  return data.map((file: unknown) => {
    const prompt = isRecord(file) ? file['revised_prompt'] : undefined
    return typeof prompt === 'string' ? prompt : undefined
  })
}

function readCounts(usage: unknown): Record<string, number> {
  const members = isRecord(usage) ? Object.entries(usage) : []
  return Object.fromEntries(
    members.flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : [])),
  )
}
