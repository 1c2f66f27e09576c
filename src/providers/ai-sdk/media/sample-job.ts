import type { MediaProgress } from '../../media/media-operation.ts'
import { readNumber, readPath, readString } from '../exchange/read-json.ts'
import { invalidAnswer, jobFailed, jobLost } from './job-failure.ts'

const POLL_AFTER_MS = 1_000
const FAILED: ReadonlySet<string> = new Set(['Error', 'Failed'])

/**
 * Reads a job in the form of Black Forest Labs, which other hosts of its models also use: `status`, and `result.sample` when it
 * is ready.
 */
export function readSampleJob(provider: string, answer: unknown): MediaProgress {
  const state = readString(answer, 'status') ?? readString(answer, 'state') ?? ''
  if (state === 'Task not found') throw jobLost(provider)
  if (/moderated/i.test(state)) throw jobFailed(provider, { message: state, code: state })
  if (FAILED.has(state)) {
    throw jobFailed(provider, { message: describeDetails(readPath(answer, 'details')) ?? state })
  }
  if (state !== 'Ready') {
    return { kind: 'running', progress: readNumber(answer, 'progress') ?? null, pollAfterMs: POLL_AFTER_MS }
  }
  const url = readString(answer, 'result', 'sample') ?? readString(answer, 'result', 'video')
  if (url === undefined) throw invalidAnswer(provider, 'a sample')
  return { kind: 'done', output: { files: [{ kind: 'url', url }] } }
}

function describeDetails(details: unknown): string | undefined {
  if (details === undefined || details === null) return undefined
  return typeof details === 'string' ? details : JSON.stringify(details)
}
