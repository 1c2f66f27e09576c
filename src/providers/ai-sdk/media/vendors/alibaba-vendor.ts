import { readNumber, readString } from '../../exchange/read-json.ts'
import { bearer, cancelByRequest } from '../cancel-by-request.ts'
import { toDataUri } from '../data-uri.ts'
import { chooseAspectRatio, chooseDuration, chooseResolution } from '../../../streams/frame-shape.ts'
import { toPackageSettings } from '../package-settings.ts'
import { createVideoModelWire } from '../video-model-wire.ts'
import { lookupTable } from '../../../../kernel/lookup-table.ts'

const DURATIONS = [5, 10, 15]
const SIZES = lookupTable<Readonly<Record<string, `${number}x${number}`>>>({
  '720p': { '16:9': '1280x720', '9:16': '720x1280', '1:1': '960x960', '4:3': '1088x832', '3:4': '832x1088' },
  '1080p': {
    '16:9': '1920x1080',
    '9:16': '1080x1920',
    '1:1': '1440x1440',
    '4:3': '1632x1248',
    '3:4': '1248x1632',
  },
})

/** Wan models over DashScope. Only jobs that are still queued can be cancelled. */
export const alibabaVideos = {
  provider: 'alibaba',
  defaultBaseUrl: 'https://dashscope-intl.aliyuncs.com',
  wire: createVideoModelWire({
    pollAfterMs: 10_000,
    async createModel(session, modelId) {
      const { createAlibaba } = await import('@ai-sdk/alibaba')
      return createAlibaba({ ...toPackageSettings(session), videoBaseURL: session.baseUrl }).videoModel(
        modelId,
      )
    },
    toOptions: (work, modelId) => ({
      duration: chooseDuration(work.durationSeconds, DURATIONS),
      aspectRatio: undefined,
      resolution: chooseFrame(work.resolution, work.aspectRatio),
      ...(work.image === null ? {} : { image: { type: 'url', url: toDataUri(work.image) } }),
      // Only models that start from an image have this option.
      generateAudio: modelId.includes('-i2v') ? (work.withAudio ?? undefined) : undefined,
      providerOptions:
        work.negativePrompt === null ? {} : { alibaba: { negativePrompt: work.negativePrompt } },
    }),
    readStatus(answer) {
      const state = readString(answer, 'output', 'task_status')
      return {
        seconds:
          readNumber(answer, 'usage', 'output_video_duration') ?? readNumber(answer, 'usage', 'duration'),
        isLost: state === 'UNKNOWN',
        ...(state === 'FAILED' || state === 'CANCELED'
          ? {
              failure: {
                message: readString(answer, 'output', 'message'),
                code: readString(answer, 'output', 'code'),
              },
            }
          : {}),
      }
    },
    async cancel({ job }, session) {
      const url = `${session.baseUrl}/api/v1/tasks/${encodeURIComponent(job.id)}/cancel`
      await cancelByRequest(session, { url, method: 'POST', headers: bearer(session) })
    },
  }),
}

/** Returns the model's frame size for a number of lines and a ratio. */
function chooseFrame(resolution: string | null, aspectRatio: string | null) {
  if (resolution === null && aspectRatio === null) return undefined
  const lines = chooseResolution(resolution, Object.keys(SIZES)) ?? '720p'
  const frames = SIZES[lines] ?? {}
  return frames[chooseAspectRatio({ aspectRatio, size: resolution }, Object.keys(frames)) ?? '16:9']
}
