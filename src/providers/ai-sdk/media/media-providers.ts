import type { Provider } from '../../provider.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import { createLazyMediaProvider, type MediaLoaders } from './lazy-media-provider.ts'

const loadFal = () => import('./fal/fal-vendor.ts')
const loadGoogle = () => import('./google/google-media-vendor.ts')
const loadReplicate = () => import('./vendors/replicate-vendor.ts')
const loadBlackForestLabs = () => import('./vendors/black-forest-labs-vendor.ts')
const loadLuma = () => import('./vendors/luma-vendor.ts')
const loadXai = () => import('./vendors/xai-vendor.ts')
const loadBytedance = () => import('./vendors/bytedance-vendor.ts')

/** Who makes images and videos. Adding a vendor is adding a line and its file. */
const MEDIA_VENDORS: Readonly<Record<string, MediaLoaders>> = {
  fal: {
    image: { load: async () => (await loadFal()).falImages },
    video: { load: async () => (await loadFal()).falVideos },
    upscale: { load: async () => (await loadFal()).falUpscales },
    backgroundRemoval: { load: async () => (await loadFal()).falBackgroundRemovals },
  },
  google: {
    image: { load: async () => (await loadGoogle()).googleImages },
    video: { load: async () => (await loadGoogle()).googleVideos },
  },
  replicate: {
    image: { load: async () => (await loadReplicate()).replicateImages },
    video: { load: async () => (await loadReplicate()).replicateVideos },
  },
  'black-forest-labs': {
    image: { load: async () => (await loadBlackForestLabs()).blackForestLabsImages },
    video: { load: async () => (await loadBlackForestLabs()).blackForestLabsVideos },
  },
  luma: {
    image: { load: async () => (await loadLuma()).lumaImages },
    video: { load: async () => (await loadLuma()).lumaVideos },
  },
  xai: {
    image: { load: async () => (await loadXai()).xaiImages },
    video: { load: async () => (await loadXai()).xaiVideos },
  },
  bytedance: {
    image: { load: async () => (await loadBytedance()).bytedanceImages },
    video: { load: async () => (await loadBytedance()).bytedanceVideos },
  },
  alibaba: { video: { load: async () => (await import('./vendors/alibaba-vendor.ts')).alibabaVideos } },
  minimax: { video: { load: async () => (await import('./vendors/minimax-vendor.ts')).minimaxVideos } },
  klingai: {
    video: { canFind: true, load: async () => (await import('./vendors/klingai-vendor.ts')).klingaiVideos },
  },
  together: { image: { load: async () => (await import('./vendors/together-vendor.ts')).togetherImages } },
  fireworks: { image: { load: async () => (await import('./vendors/fireworks-vendor.ts')).fireworksImages } },
}

/**
 * Who charges nothing for a job that is cancelled while it runs: Replicate prices these models by what they put out. All others bill
 * what they have taken, also where a job can be cancelled while it waits.
 */
const REFUNDS_CANCELLED: ReadonlySet<string> = new Set(['replicate'])

/** The images and videos of an upstream, whatever else it does; null for one that makes none. */
export function createMediaProvider(id: string, options: AiSdkProviderOptions): Provider | null {
  const vendor = MEDIA_VENDORS[id]
  if (vendor === undefined) return null
  const provider = createLazyMediaProvider(id, options, vendor)
  return REFUNDS_CANCELLED.has(id) ? { ...provider, refundsCancelled: true } : provider
}
