import { Cancellation } from '../../../src/kernel/cancellation.ts'
import type {
  InputFile,
  JobCall,
  MediaCall,
  UpstreamJob,
} from '../../../src/providers/media/media-operation.ts'
import type { ImageWork, VideoWork } from '../../../src/providers/media/media-work.ts'

export const inputImage: InputFile = { bytes: new Uint8Array([137, 80, 78, 71]), contentType: 'image/png' }
export const inputImageUri = 'data:image/png;base64,iVBORw=='

export function imageWork(fields: Partial<ImageWork<InputFile>> = {}): ImageWork<InputFile> {
  return {
    kind: 'image',
    prompt: 'a boat',
    count: 1,
    size: null,
    aspectRatio: null,
    quality: null,
    style: null,
    background: null,
    outputFormat: null,
    seed: null,
    images: [],
    mask: null,
    extra: {},
    ...fields,
  }
}

export function videoWork(fields: Partial<VideoWork<InputFile>> = {}): VideoWork<InputFile> {
  return {
    kind: 'video',
    prompt: 'a boat',
    image: null,
    durationSeconds: 5,
    aspectRatio: null,
    resolution: null,
    seed: null,
    negativePrompt: null,
    withAudio: null,
    ...fields,
  }
}

export function mediaCall<Work>(work: Work, upstreamModel: string): MediaCall<Work> {
  return { work, upstreamModel, ...common() }
}

/** Creates a poll of a job by another process, which only has what was stored. */
export function jobCall(job: UpstreamJob, upstreamModel: string): JobCall {
  return { job: JSON.parse(JSON.stringify(job)) as UpstreamJob, upstreamModel, ...common() }
}

const common = () => ({
  requestId: 'req_test',
  timeouts: { connectMs: 5_000, firstByteMs: 10_000, idleMs: 10_000 },
  cancellation: new Cancellation(),
})
