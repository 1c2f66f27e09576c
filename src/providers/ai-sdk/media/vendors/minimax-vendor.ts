import { readNumber, readPath, readString } from '../../exchange/read-json.ts'
import { readLines } from '../../../streams/frame-shape.ts'
import { toPackageSettings } from '../package-settings.ts'
import { createVideoModelWire } from '../video-model-wire.ts'

/** Hailuo models. The base URL of the chat models ends in a version, which the URL for videos does not have. */
export const minimaxVideos = {
  provider: 'minimax',
  defaultBaseUrl: 'https://api.minimax.io/v1',
  wire: createVideoModelWire({
    pollAfterMs: 10_000,
    async createModel(session, modelId) {
      const { createMiniMax } = await import('@ai-sdk/minimax')
      const videoBaseURL = session.baseUrl.replace(/\/v1$/, '')
      return createMiniMax({ ...toPackageSettings(session), videoBaseURL }).videoModel(modelId)
    },
    toOptions: ({ resolution }) => ({ providerOptions: toOptions(readLines(resolution)) }),
    readStatus(answer) {
      const state = readString(answer, 'task', 'status')
      const code = readPath(answer, 'task', 'error', 'code')
      return {
        seconds:
          readNumber(answer, 'task', 'usage', 'output_seconds') ?? readNumber(answer, 'task', 'duration'),
        isLost: state === 'expired',
        ...(state === 'failed' || state === 'cancelled'
          ? {
              failure: {
                message: readString(answer, 'task', 'error', 'message') ?? state,
                code: typeof code === 'number' ? String(code) : readString(code),
              },
            }
          : {}),
      }
    },
  }),
}

function toOptions(lines: number | null) {
  if (lines === null) return {}
  return { minimax: { resolution: lines > 768 ? '2K' : lines > 480 ? '768P' : '480P' } }
}
