import type { Provider } from '../../provider.ts'
import { createLazyProvider, type AiSdkProviderOptions } from '../lazy-provider.ts'

/** Gemini models over Google's Generative Language API. */
export function createGoogleProvider(options: AiSdkProviderOptions): Provider {
  return createLazyProvider(
    'google',
    options,
    async () => {
      const [{ createAiSdkChat }, { googleVendor }] = await Promise.all([
        import('../ai-sdk-chat.ts'),
        import('./google-vendor.ts'),
      ])
      return createAiSdkChat(googleVendor, options)
    },
    'continues',
  )
}
