import type { Provider } from '../../provider.ts'
import { createBackgroundRemoval } from './background-removal.ts'
import type { SandboxParts } from './begin-call.ts'
import { createEmbedding } from './embedding.ts'
import { createImage } from './image.ts'
import { createModeration } from './moderation.ts'
import { createMusic } from './music.ts'
import { createRecentOutputs } from './recent-outputs.ts'
import { createRenderer } from './renderer.ts'
import { createRerank } from './rerank.ts'
import { createSpeech } from './speech.ts'
import { createTranscription } from './transcription.ts'
import { createUpscale } from './upscale.ts'
import { createVideo } from './video.ts'

type MediaOperations = Omit<
  Provider,
  | 'id'
  | 'isConfigured'
  | 'localSlots'
  | 'takenMembers'
  | 'whenLeft'
  | 'refundsCancelled'
  | 'chat'
  | 'completion'
  | 'native'
  | 'countMessageTokens'
>

/** All that the sandbox does besides chat. */
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
