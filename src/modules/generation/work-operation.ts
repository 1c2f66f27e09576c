import { UpstreamError } from '../../providers/failures/upstream-error.ts'
import type {
  InputFile,
  JobCall,
  MediaCall,
  MediaOperation,
  MediaProgress,
  MediaStart,
  UpstreamJob,
} from '../../providers/media/media-operation.ts'
import type { MediaWork, SpeechWork } from '../../providers/media/media-work.ts'
import type { Provider } from '../../providers/provider.ts'
import type { SpeechOperation } from '../../providers/media/audio-operations.ts'

export type WorkKind = MediaWork<never>['kind']

/** What a provider supports for existing jobs, whatever their work is. */
export interface JobOperation {
  check?(call: JobCall): Promise<MediaProgress>
  cancel?(call: JobCall): Promise<void>
}

/** How a provider starts one piece of work. */
export interface WorkOperation {
  start(call: Omit<MediaCall<never>, 'work'>): Promise<MediaStart>
  find?(call: Omit<MediaCall<never>, 'work'>): Promise<UpstreamJob | null>
}

export function jobOperationOf(provider: Provider, kind: WorkKind): JobOperation | undefined {
  return JOB_OPERATIONS[kind](provider)
}

const JOB_OPERATIONS: Readonly<Record<WorkKind, (provider: Provider) => JobOperation | undefined>> = {
  image: ({ image }) => image,
  upscale: ({ upscale }) => upscale,
  bg_remove: ({ backgroundRemoval }) => backgroundRemoval,
  video: ({ video }) => video,
  music: ({ music }) => music,
  // Speech is synchronous and has no job.
  speech: ({ speech }) => speech && {},
}

/** Returns the provider's operation bound to the work. Undefined if the provider does not support such work. */
export function bindWork(provider: Provider, work: MediaWork<InputFile>): WorkOperation | undefined {
  switch (work.kind) {
    case 'image':
      return bind(provider.image, work)
    case 'upscale':
      return bind(provider.upscale, work)
    case 'bg_remove':
      return bind(provider.backgroundRemoval, work)
    case 'video':
      return bind(provider.video, work)
    case 'music':
      return bind(provider.music, work)
    case 'speech':
      return provider.speech && bindSpeech(provider.id, provider.speech, work)
  }
}

function bind<Work>(operation: MediaOperation<Work> | undefined, work: Work): WorkOperation | undefined {
  if (!operation) return undefined
  return {
    start: (call) => operation.start({ ...call, work }),
    ...(operation.find ? { find: async (call) => (await operation.find?.({ ...call, work })) ?? null } : {}),
  }
}

/** More than the longest input at the slowest speed as uncompressed audio. */
const SPEECH_BYTES_MAX = 128 * 1024 * 1024

function bindSpeech(provider: string, speech: SpeechOperation, work: SpeechWork): WorkOperation {
  return {
    start: async (call) => {
      const { contentType, chunks } = await speech.speak({ ...call, work })
      const parts: Uint8Array[] = []
      let bytes = 0
      for await (const chunk of chunks) {
        bytes += chunk.length
        if (bytes > SPEECH_BYTES_MAX) {
          const message = `${provider}: more audio than any text can need`
          throw new UpstreamError(message, { failure: 'invalid_answer', provider })
        }
        parts.push(chunk)
      }
      const files = bytes === 0 ? [] : [{ kind: 'bytes' as const, bytes: Buffer.concat(parts), contentType }]
      return { kind: 'done', output: { files } }
    },
  }
}
