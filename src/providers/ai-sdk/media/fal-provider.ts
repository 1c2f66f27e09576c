import type { Provider } from '../../provider.ts'
import type { AiSdkProviderOptions } from '../lazy-provider.ts'
import { createLazyMediaProvider } from './lazy-media-provider.ts'

const load = () => import('./fal-vendor.ts')

/** Images, videos, upscaling and background removal by the models that fal runs. */
export function createFalProvider(options: AiSdkProviderOptions): Provider {
  return createLazyMediaProvider('fal', options, {
    image: { load: async () => (await load()).falImages },
    video: { load: async () => (await load()).falVideos },
    upscale: { load: async () => (await load()).falUpscales },
    backgroundRemoval: { load: async () => (await load()).falBackgroundRemovals },
  })
}
