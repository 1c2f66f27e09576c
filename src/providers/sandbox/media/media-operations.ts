import type { Provider } from '../../provider.ts'
import { createBackgroundRemoval } from './images/background-removal.ts'
import type { SandboxParts } from './begin-call.ts'
import { createEmbedding } from './text/embedding.ts'
import { createImage } from './images/image.ts'
import { createModeration } from './text/moderation.ts'
import { createMusic } from './audio/music.ts'
import { createRecentOutputs } from './recent-outputs.ts'
import { createRenderer } from './renderer.ts'
import { createRerank } from './text/rerank.ts'
import { createSpeech } from './audio/speech.ts'
import { createTranscription } from './audio/transcription.ts'
import { createUpscale } from './images/upscale.ts'
import { createVideo } from './video/video.ts'

type MediaOperations = Omit<
  Provider,
  | 'id'
  | 'isConfigured'
  | 'address'
  | 'localSlots'
  | 'timeouts'
  | 'takenMembers'
  | 'onDisconnect'
  | 'refundsCancelled'
  | 'isSingle'
  | 'isOwnServer'
  | 'batch'
  | 'chat'
  | 'completion'
  | 'native'
  | 'isNative'
  | 'readsBillingLine'
  | 'countMessageTokens'
>

/** Creates all operations of the sandbox besides chat. */
export function createMediaOperations(parts: SandboxParts): Required<MediaOperations> {
  const recentOutputs = createRecentOutputs()
  const renderer = createRenderer()
  return {
    embedding: createEmbedding(parts),
    rerank: createRerank(parts),
    moderation: createModeration(parts),
    image: createImage(parts, recentOutputs),
    upscale: createUpscale(parts),
    backgroundRemoval: createBackgroundRemoval(parts),
    video: createVideo(parts, { recentOutputs, renderer }),
    music: createMusic(parts, { recentOutputs, renderer }),
    speech: createSpeech(parts),
    transcription: createTranscription(parts),
  }
}
