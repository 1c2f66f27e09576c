import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import type { MediaOperation } from '../../../providers/media/media-operation.ts'
import type { Provider } from '../../../providers/provider.ts'
import { UpstreamError, type UpstreamErrorDetails } from '../../../providers/failures/upstream-error.ts'
import { createCatalog } from '../../catalog/catalog.ts'
import { createInference } from '../../inference/inference.ts'
import { freeCredit } from '../../ledger/ledger.ts'
import type { ClaimedTask, StoredJob, TaskControl } from '../../tasks/tasks.ts'
import { createGeneration } from '../generation.ts'
import { createMemoryMedia } from './memory-media.ts'

const TIMEOUTS = { connectMs: 1000, firstByteMs: 1000, idleMs: 1000 }
const ACCOUNT = '018f0000-0000-7000-8000-000000000001'

const SOURCE = {
  models: [
    {
      id: 'film',
      name: 'Film',
      vendor: 'Us',
      category: 'video',
      capabilities: ['text_to_video', 'image_to_video'],
      price: { unit: 'second', usd: 0.1 },
      routes: [
        { provider: 'first', model: 'film-1' },
        { provider: 'second', model: 'film-2' },
      ],
    },
  ],
}

/** Creates a generation module with upstreams that a test controls and a clock that advances by itself. */
export function createStage(operations: Record<string, Partial<MediaOperation<never>>>) {
  const providers = new Map(
    Object.entries(operations).map(([id, operation]): [string, Provider] => [
      id,
      { id, isConfigured: true, video: { start: () => Promise.reject(upstreamError(id, {})), ...operation } },
    ]),
  )
  const registry = {
    current: providers,
    get: (id: string) => providers.get(id),
    find: (id: string) => providers.get(id),
    sandbox: { id: 'sandbox', isConfigured: true },
    onRetired: () => {},
  }
  let nowMs = 1_700_000_000_000
  const clock = fakeClock(() => nowMs)
  const catalog = createCatalog({ source: SOURCE })
  const media = createMemoryMedia()
  const pauses: number[] = []
  const inference = createInference({
    mayUseSandbox: ({ environment }) => environment === 'dev' || environment === 'test',
    catalog,
    providers: registry,
    clock,
    timeouts: TIMEOUTS,
    durationMsMax: 60_000,
    limits: { admit: () => Promise.reject(new Error('not on this stage')), admitModel: () => null },
    acquireSlot: () => null,
    drainLimits: { drainMsMax: 0, drainBytesMax: 0, drainsMax: 0, drainsPerAccountMax: 0 },
    observer: {
      attempted: () => {},
      ranShort: () => {},
      breakerChanged: () => {},
      completed: () => {},
      uncovered: () => {},
      callEnded: () => {},
      drains: { running: () => {}, abandoned: () => {} },
    },
  })
  const generation = createGeneration({
    findFile: async () => null,
    inference,
    catalog,
    providers: registry,
    ledger: freeCredit,
    formerCallerOf: async () => ({}),
    tasks: {
      create: () => Promise.reject(new Error('not on this stage')),
      readAfterChange: () => Promise.reject(new Error('not on this stage')),
      readOrder: () => Promise.reject(new Error('not on this stage')),
    },
    media,
    clock,
    timeouts: TIMEOUTS,
    trustedHostsOf: () => [],
    pause: async (durationMs, cancellation) => {
      pauses.push(durationMs)
      nowMs += durationMs
      cancellation.throwIfCancelled()
    },
  })
  return { performer: generation.performer, media, pauses, nowMs: () => nowMs }
}

export function createControl() {
  const notes: string[] = []
  const jobs: StoredJob[] = []
  const control: TaskControl = {
    cancellation: new Cancellation(),
    workerId: '018f0000-0000-7000-8000-00000000000c',
    isHandedOn: () => false,
    giveUp: () => Promise.reject(new Error('not on this stage')),
    noteSubmitting: async ({ provider }) => void notes.push(`submitting to ${provider}`),
    noteRefused: async () => void notes.push('refused'),
    saveJob: async (job) => {
      notes.push(`job ${job.job.id}`)
      jobs.push(job)
    },
    reportProgress: (progress) => void notes.push(`progress ${progress}`),
  }
  return { control, notes, jobs }
}

/** A task for five seconds of video with a hold of 0.50 USD. */
export function claimTask(fields: Partial<ClaimedTask> = {}): ClaimedTask {
  return {
    id: '018f0000-0000-7000-8000-00000000000a',
    accountId: ACCOUNT,
    projectId: null,
    keyId: '018f0000-0000-7000-8000-00000000000b',
    environment: 'live',
    requestId: 'req_1',
    type: 'video',
    model: 'film',
    requestedModel: 'film',
    work: {
      work: {
        kind: 'video',
        prompt: 'waves',
        image: null,
        durationSeconds: 5,
        aspectRatio: null,
        resolution: null,
        seed: null,
        negativePrompt: null,
        withAudio: null,
      },
      price: { unit: 'second', rate: (100_000_000n * 10n ** 24n).toString() },
    },
    isHeld: true,
    holdNanoUsd: 500_000_000n,
    attempt: 1,
    createdAtMs: 1_700_000_000_000,
    startedAtMs: 1_700_000_000_000,
    deadlineAtMs: 1_700_000_000_000 + 3_600_000,
    job: null,
    submittingTo: null,
    labels: null,
    priceVersion: null,
    traceparent: null,
    ...fields,
  }
}

export function upstreamError(provider: string, details: Partial<UpstreamErrorDetails>): UpstreamError {
  return new UpstreamError(`${provider} failed`, { failure: 'status', provider, status: 500, ...details })
}
